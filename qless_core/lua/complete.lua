-- Finishing a job, or handing it to its next queue.

-- Into the next queue: to work, to the schedule, or to wait for others.
local function advance(now, jid, known, options)
  local to, delay = options.to, options.delay
  local waited = {}
  if #options.depends > 0 then
    waited = Dependencies.effective(options.depends)
    Dependencies.link(jid, waited)
  end
  Queue.remember(to, now)
  local state = Queue.enter(now, to, jid, Check.finite(known[3]) or 0, delay, #waited > 0)
  local retries = Check.finite(known[4]) or 5
  call('hmset', Key.job(jid), 'state', state, 'worker', '', 'failure', '{}', 'queue', to,
    'expires', 0, 'remaining', retries, 'time', Json.time(now), 'data', options.data)
  if known[8] then
    call('hset', Key.job(jid), 'throttles', Throttle.moved(Throttle.ids(known[8]), known[5], to))
  end
  if state == 'depends' then
    Dependencies.remember(jid, delay > 0 and now + delay)
  end
  History.push(jid, false, History.item(now, '"put"', '{"q":' .. encode(to) .. '}'))
  return state
end

local function finish(now, jid, known, data, alone)
  call('zadd', Key.completed, Call.now, jid)
  call('hmset', Key.job(jid), 'state', 'complete', 'worker', '', 'failure', '{}', 'queue', '',
    'expires', '0', 'remaining', Json.again(known[4], 5), 'time', Json.time(now), 'data', data)
  if not alone then
    Dependencies.release(now, jid)
  end
  return 'complete'
end

-- Of a job that goes no further.
local LAST = { depends = {} }

local function read_options(arg)
  local data = Check.json(arg[4], 'data')
  if not arg[5] then
    return LAST
  end
  local given = Check.options(arg, 5)
  local to = given.next and Check.name(given.next, 'next')
  local delay = given.delay and Check.number(given.delay, 'delay')
  local depends = given.depends and Check.jids(given.depends, 'depends')
  if not to and (delay or depends) then
    Check.refuse('BAD_ARGUMENT', 'option "' .. (delay and 'delay' or 'depends')
      .. '" makes no sense without "next"', 1)
  end
  local strict = given.strict and Check.count(given.strict, 'strict') > 0
  return { data = data, to = to, delay = delay or 0, depends = depends or {}, strict = strict }
end

-- complete jid worker queue data [next q, delay n, depends json, strict 1]... -> the state the job is in now:
-- complete, waiting, scheduled or depends. `data` is stored as it is.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING, LOCK_LOST (another worker, another queue);
-- BAD_ARGUMENT, also for a dependency on itself or in a ring; with `strict`, of ours, NO_DEPENDENCY.
-- Publishes: completed for a tracked job, then advanced or completed.
Commands['complete'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local worker = Check.name(arg[2], 'worker')
  local queue = Check.name(arg[3], 'queue')
  local options = read_options(arg)
  local known = call('hmget', Key.job(jid), 'state', 'worker', 'priority', 'retries', 'queue',
    'time', 'history', 'throttles')
  Check.owned(jid, worker, known)
  if known[5] ~= queue then
    Check.refuse('LOCK_LOST', 'Job ' .. jid .. ' running in another queue: ' .. (known[5] or ''))
  end
  if #options.depends > 0 then
    Dependencies.refuse_ring(jid, options.depends)
    if options.strict then
      Dependencies.refuse_missing(jid, options.depends)
    end
  end
  -- Most jobs are neither tracked nor waited for: so both are asked at once first.
  local alone = Config.others(Key.tracked, Key.dependents(jid)) == 0
  local tracked = not alone and call('zscore', Key.tracked, jid)
  Config.prefetch('max-job-history', 'jobs-history', 'jobs-history-count')

  History.push(jid, known[7], History.item(now, '"done"'))
  Stats.duration('run', queue, now, now - (Check.finite(known[6]) or now))
  local state
  if options.to then
    state = advance(now, jid, known, options)
  else
    state = finish(now, jid, known, arg[4], alone)
  end
  call('zrem', Key.locks(queue), jid)
  call('zrem', Key.worker_jobs(worker), jid)
  if known[8] then
    Throttle.release(now, jid, known[8], queue, 'running')
  end
  if not options.to then
    Prune.completed(now)
  end
  if tracked then
    Events.job('completed', jid)
  end
  if options.to then
    Events.advanced(jid, queue, options.to)
  else
    Events.completed(jid, queue)
  end
  return state
end
