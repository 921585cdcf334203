-- A worker gives its job back.

-- retry jid queue worker delay? group? message? -> the retries left, or -1 when there were none and
-- the job failed instead. `worker` and `expires` stay as they were, so that whoever puts the job
-- next still tells that worker. Group and message are kept in `failure` either way. A failure that
-- nobody gave a message for is nobody's: its `worker` is ''.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING, LOCK_LOST (another worker, another queue).
-- Publishes: failed for a tracked job, when exhausted.
Commands['retry'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local queue = Check.name(arg[2], 'queue')
  local worker = Check.name(arg[3], 'worker')
  local delay = Check.number(arg[4], 'delay', 0)
  local group, message = arg[5], arg[6]
  local key = Key.job(jid)
  local known = call('hmget', key, 'state', 'worker', 'queue', 'priority', 'remaining', 'history',
    'throttles')
  Check.owned(jid, worker, known)
  if known[3] ~= queue then
    Check.refuse('LOCK_LOST', 'Job ' .. jid .. ' running in another queue: ' .. (known[3] or ''))
  end

  local remaining = Check.remaining(known[5]) - 1
  if group and message then
    Config.prefetch('max-job-history', 'max-failure-message', 'host-max-failures')
  end
  if remaining < 0 then
    local default_group, default_message = Failures.exhausted(queue)
    local failure = Failures.make(now, group or default_group, message or default_message,
      message and worker or '')
    Failures.record(now, jid, queue, known[6], failure, false)
    call('hset', key, 'remaining', remaining)
  else
    local state = Queue.enter(now, queue, jid, Check.finite(known[4]) or 0, delay, false)
    if group and message then
      call('hmset', key, 'state', state, 'remaining', remaining, 'failure',
        Failures.make(now, group, message, worker).json)
    else
      call('hmset', key, 'state', state, 'remaining', remaining)
    end
  end
  call('zrem', Key.locks(queue), jid)
  call('zrem', Key.worker_jobs(worker), jid)
  call('hdel', key, 'grace')
  if known[7] then
    Throttle.release(now, jid, known[7], queue, 'running')
  end
  if group and message and Config.text('host-max-failures') then
    Limits.failed(now, jid, worker)
  end
  if remaining < 0 then
    Events.if_tracked('failed', jid)
    return -1
  end
  return remaining
end
