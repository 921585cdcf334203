-- Every key and channel name. No other file may spell one; `keys.py` is the twin for Python.

-- The first line below is rewritten by script.py when another namespace is asked for.
local NAMESPACE = 'ql:'

Key.namespace = NAMESPACE
Key.queues = NAMESPACE .. 'queues'               -- zset: queue names by time first seen
Key.paused_queues = NAMESPACE .. 'paused_queues' -- set: names
Key.workers = NAMESPACE .. 'workers'             -- zset: worker names by time last seen
Key.tracked = NAMESPACE .. 'tracked'             -- zset: jids by time tracked
Key.completed = NAMESPACE .. 'completed'         -- zset: jids by time of completion
Key.failures = NAMESPACE .. 'failures'           -- set: failure groups
Key.tags = NAMESPACE .. 'tags'                   -- zset: tags by use count
Key.archive = NAMESPACE .. 'archive'             -- hash: where each archiver stands (ours)
Key.config = NAMESPACE .. 'config'               -- hash: the options that were set
Key.crons = NAMESPACE .. 'crons'                 -- zset: cron jobs by when more runs are to be planned
Key.log = NAMESPACE .. 'log'                     -- channel: JSON about every job

-- string: what came of a request, as JSON, for some minutes (ours)
function Key.once(request)
  return NAMESPACE .. 'once:' .. request
end

-- hash: a job's fields
function Key.job(jid)
  return NAMESPACE .. 'j:' .. jid
end

-- list: what happened to a job, oldest first
function Key.history(jid)
  return NAMESPACE .. 'j:' .. jid .. '-history'
end

-- set: jids that a job waits for
function Key.dependencies(jid)
  return NAMESPACE .. 'j:' .. jid .. '-dependencies'
end

-- set: jids that wait for a job
function Key.dependents(jid)
  return NAMESPACE .. 'j:' .. jid .. '-dependents'
end

-- hash: a recurring job's fields
function Key.recurring(jid)
  return NAMESPACE .. 'r:' .. jid
end

-- zset: waiting jobs, the highest score pops first
function Key.work(queue)
  return NAMESPACE .. 'q:' .. queue .. '-work'
end

-- zset: running jobs by the end of their lock
function Key.locks(queue)
  return NAMESPACE .. 'q:' .. queue .. '-locks'
end

-- zset: scheduled jobs by due time
function Key.scheduled(queue)
  return NAMESPACE .. 'q:' .. queue .. '-scheduled'
end

-- zset: jobs that wait for others, by the time they were put
function Key.depends(queue)
  return NAMESPACE .. 'q:' .. queue .. '-depends'
end

-- zset: recurring jobs by next run
function Key.recur(queue)
  return NAMESPACE .. 'q:' .. queue .. '-recur'
end

-- zset: jobs that a throttle keeps back, the next in line first
function Key.throttled(queue)
  return NAMESPACE .. 'q:' .. queue .. '-throttled'
end

-- zset: throttles that jobs of a queue wait for, by when a pop last looked at them
function Key.awaited(queue)
  return NAMESPACE .. 'q:' .. queue .. '-awaited'
end

-- zset: a token where there may be something to take; who waits for jobs blocks on it
function Key.wake(queue)
  return NAMESPACE .. 'q:' .. queue .. '-wake'
end

-- string: there while somebody may wait for the jobs of a queue
function Key.waited(queue)
  return NAMESPACE .. 'q:' .. queue .. '-waited'
end

-- string: who looks out for a group of those who wait
function Key.lookout(group)
  return NAMESPACE .. 'lookout:' .. group
end

-- zset: a token for one of a group, or for one who waits
function Key.nudge(name)
  return NAMESPACE .. 'nudge:' .. name
end

-- what a queue's own throttle is called: no key, but the beginning of its keys
function Key.queue_throttle(queue)
  return NAMESPACE .. 'q:' .. queue
end

-- the queue whose own throttle is called so, or nil
function Key.queue_of(id)
  local prefix = NAMESPACE .. 'q:'
  return #id > #prefix and string.sub(id, 1, #prefix) == prefix and string.sub(id, #prefix + 1) or nil
end

-- hash: a throttle, its id and its maximum
function Key.throttle(id)
  return NAMESPACE .. 'th:' .. id
end

-- zset: jids that run under a throttle, each with score 1
function Key.throttle_locks(id)
  return NAMESPACE .. 'th:' .. id .. '-locks'
end

-- zset: jids that a throttle keeps back, the next in line first
function Key.throttle_pending(id)
  return NAMESPACE .. 'th:' .. id .. '-pending'
end

-- list: when jobs of a class with a rate limit started last, or are to start, the latest first
function Key.starts(klass)
  return NAMESPACE .. 'starts:' .. klass
end

-- zset: workers of a host, by when they asked for jobs last; while a limit by host is set
function Key.host_workers(host)
  return NAMESPACE .. 'host:' .. host .. ':workers'
end

-- zset: `<when> <jid>` of what failed or was dropped on a host, by time; while that is limited
function Key.host_failures(host)
  return NAMESPACE .. 'host:' .. host .. ':failures'
end

-- hash: the fields of a job that recurs by cron expression
function Key.cron_job(jid)
  return NAMESPACE .. 'cron:' .. jid
end

-- zset: the runs planned for it, epoch seconds as text, by themselves
function Key.cron_runs(jid)
  return NAMESPACE .. 'cron-runs:' .. jid
end

-- zset: the cron jobs of a queue by next run
function Key.cron(queue)
  return NAMESPACE .. 'q:' .. queue .. '-cron'
end

-- zset: jids that a worker holds, by the end of their lock
function Key.worker_jobs(worker)
  return NAMESPACE .. 'w:' .. worker .. ':jobs'
end

-- string: what a worker tells of itself, as JSON (ours)
function Key.worker_info(worker)
  return NAMESPACE .. 'w:' .. worker .. ':info'
end

-- string: what a worker is asked to do, and when the process that is meant started (ours)
function Key.worker_asked(worker)
  return NAMESPACE .. 'w:' .. worker .. ':asked'
end

-- list: jids of a failure group, newest at the head
function Key.failed(group)
  return NAMESPACE .. 'f:' .. group
end

-- zset: jids that carry a tag, by time tagged
function Key.tag(tag)
  return NAMESPACE .. 't:' .. tag
end

-- hash: a day's figures of a queue; kind is `stats`, `wait` or `run`
function Key.stats(kind, bin, queue)
  return NAMESPACE .. 's:' .. kind .. ':' .. bin .. ':' .. queue
end

-- channel: jids of tracked jobs that something happened to
function Key.event(name)
  return NAMESPACE .. name
end

-- hashes: jobs on their way to another shard, here and there
function Key.shards(name)
  return NAMESPACE .. 'shards:' .. name
end

-- whatever the console keeps for itself (ours)
function Key.web(name)
  return NAMESPACE .. 'web:' .. name
end

-- channel: JSON that one worker must know
function Key.worker(worker)
  return NAMESPACE .. 'w:' .. worker
end

-- Every call of a queue or a worker needs some of these, and to put one together costs as much as a small command. As
-- a function of the server, which lasts, so many of each are remembered, of names of so many bytes; then they
-- begin anew.
local KEPT, MOST_BYTES = 200, 100

local function remembered(make)
  local kept, number = {}, 0
  return function(name)
    local key = kept[name]
    if key then
      return key
    end
    key = make(name)
    if #name <= MOST_BYTES then
      if number == KEPT then
        kept, number = {}, 0
      end
      kept[name] = key
      number = number + 1
    end
    return key
  end
end

if LASTS then
  for _, kind in ipairs({ 'work', 'locks', 'scheduled', 'recur', 'cron', 'throttled', 'waited', 'queue_throttle',
    'throttle', 'worker_jobs' }) do
    Key[kind] = remembered(Key[kind])
  end
end
