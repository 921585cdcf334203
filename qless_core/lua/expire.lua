-- Locks that ran out. First the worker is warned and given a grace period; when that has passed too,
-- a retry is used up and the job goes to the next worker, or fails when there are none left.

-- Warns the worker and moves the lock to the end of the grace period.
local function warn(now, queue, job, grace)
  local jid = job.jid
  History.push(jid, job.legacy, History.item(now, '"timed-out"'))
  job.legacy = false
  call('hset', Key.job(jid), 'grace', 1)
  call('zadd', Key.locks(queue), now + grace, jid)
  Stats.count(queue, now, 'retries')
  Events.if_tracked('stalled', jid)
  Events.lock_lost(jid, job.worker)
  if Config.text('host-max-failures') then
    Limits.failed(now, jid, job.worker)
  end
end

-- Uses up a retry; answers whether the job may run again.
local function use_retry(now, queue, job)
  local jid = job.jid
  local key = Key.job(jid)
  local remaining = floor(job.remaining) - 1
  local failure
  if remaining < 0 then
    local group, message = Failures.exhausted(queue)
    failure = Failures.make(now, group, message, '')
    Failures.record(now, jid, queue, job.legacy, failure, false)
  end
  call('hdel', key, 'grace')
  call('hset', key, 'remaining', remaining)
  if not failure then
    return true
  end
  call('zrem', Key.locks(queue), jid)
  if job.throttles then
    Throttle.release(now, jid, job.throttles, queue, 'running')
  end
  Events.if_tracked('failed', jid)
  Events.failed(jid, failure, encode(job.worker))
  return false
end

-- Whether a job that may run again waits before it does, as `drop-backoff` says; then it is scheduled.
local function put_off(now, queue, job)
  if Config.number('drop-backoff', 0) <= 0 then
    return false
  end
  local jid = job.jid
  local wait = Limits.backoff(floor(job.remaining) - 1, job.retries)
  call('zadd', Key.scheduled(queue), now + wait, jid)
  call('hmset', Key.job(jid), 'state', 'scheduled', 'worker', '', 'expires', 0)
  call('zrem', Key.locks(queue), jid)
  if job.throttles then
    Throttle.release(now, jid, job.throttles, queue, 'running')
  end
  Queue.tell_later(queue, wait)
  return true
end

-- Whether a lock found here is that of a job which is here. A job that says it is in another queue is,
-- when it is locked there; else the original's `retry` put it here without telling it, and it is told.
local function is_here(queue, jid, state, home)
  if state ~= 'running' or Queue.is_elsewhere(jid, state, home, Key.locks(queue)) then
    return false
  end
  if home ~= queue then
    call('hset', Key.job(jid), 'queue', queue)
  end
  return true
end

-- Expire.locks(now, queue, count) -> jids that the next worker gets, out of the first `count` locks
-- that are past. They stay in the set of locks, for pop to renew.
function Expire.locks(now, queue, count)
  if count <= 0 then
    return {}
  end
  local locks = Key.locks(queue)
  local jids = call('zrangebyscore', locks, '-inf', Call.now, 'limit', '0', Json.stored(count))
  if #jids == 0 then
    return jids
  end
  local free = {}
  for _, jid in ipairs(jids) do
    local whole = Job.is_whole(jid)
    local known = whole and call('hmget', Key.job(jid), 'state', 'worker', 'grace', 'remaining',
      'history', 'queue', 'throttles', 'retries')
    if not whole then
      Queue.set_aside(queue, jid)
    elseif not is_here(queue, jid, known[1], known[6]) then
      call('zrem', locks, jid) -- the job is gone, or elsewhere
    else
      local job = {
        jid = jid,
        worker = known[2] or '',
        remaining = Check.finite(known[4]) or 0,
        legacy = known[5],
        throttles = known[7],
        retries = Check.finite(known[8]) or 0,
      }
      if job.worker ~= '' then
        pcall(call, 'zrem', Key.worker_jobs(job.worker), jid) -- who is gone keeps no job here
      end
      local grace = Config.number('grace-period')
      local warned = Check.finite(known[3]) == 1
      if not warned or grace <= 0 then
        warn(now, queue, job, grace)
      end
      if warned or grace <= 0 then
        if use_retry(now, queue, job) and not put_off(now, queue, job) then
          free[#free + 1] = jid
        end
      end
    end
  end
  return free
end
