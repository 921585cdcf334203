-- Removing jobs for good.

-- Refuses when somebody outside the list waits for somebody in it. A mention of a job that no longer
-- waits stops nobody.
local function refuse_dependents(jids, listed)
  local met = {}
  for _, jid in ipairs(jids) do
    local other = not met[jid] and Dependencies.waiting_for(jid, listed, 1)[1]
    met[jid] = true
    if other then
      Check.refuse('HAS_DEPENDENTS', jid .. ' is a dependency of ' .. other, 1)
    end
  end
end

-- What an HMGET of six fields finds of no job.
local NOTHING = { false, false, false, false, false, false }

-- Takes one job away, except out of its failure group: that is done for all of a group at once.
local function remove(now, jid, groups)
  -- Where something else lies under its key, there is no more to know of the job: that goes, too.
  local ok, known = pcall(call, 'hmget', Key.job(jid), 'state', 'queue', 'worker', 'failure', 'tags',
    'throttles')
  known = ok and known or NOTHING
  local state, queue, worker = known[1], known[2], known[3]
  if state == 'complete' then
    return
  end
  Dependencies.forget(jid)
  Job.destroy(jid, known[5])
  -- An entry without a job is nothing; a job without an entry would be lost.
  if worker and worker ~= '' then
    call('zrem', Key.worker_jobs(worker), jid)
  end
  if queue and queue ~= '' and state ~= 'failed' then
    Queue.leave(queue, jid)
  end
  if known[6] then
    Throttle.release(now, jid, known[6], queue, state)
  end
  if state == 'failed' then
    local failure = Json.object(known[4])
    if type(failure.group) == 'string' then
      groups[failure.group] = groups[failure.group] or {}
      table.insert(groups[failure.group], jid)
    end
    if type(failure.when) == 'number' and queue then
      Stats.uncount_failed(queue, failure.when)
    end
  end
  local was_tracked = call('zrem', Key.tracked, jid) == 1
  Events.canceled(jid, queue, worker)
  if was_tracked then
    Events.job('canceled', jid)
  end
end

-- cancel jid... -> list of the jids. Complete jobs are left as they are.
-- Refuses: HAS_DEPENDENTS when a dependent is not in the list; then none is touched.
-- Publishes: canceled to the log, to the worker, and for a tracked job.
Commands['cancel'] = function(now, arg)
  local jids = Check.names(arg, 1, 'jid')
  local listed = {}
  for _, jid in ipairs(jids) do
    listed[jid] = true
  end
  refuse_dependents(jids, listed)
  Check.memory()
  local groups = {}
  for _, jid in ipairs(jids) do
    if listed[jid] then
      listed[jid] = nil -- named twice, canceled once
      remove(now, jid, groups)
    end
  end
  for group, members in pairs(groups) do
    Failures.remove(group, members)
  end
  return jids
end
