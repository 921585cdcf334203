-- A worker's job failed.

-- fail jid worker group message data? -> jid. `data` is stored as it is; a long message is cut.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING, LOCK_LOST.
-- Publishes: failed to the log, then failed for a tracked job.
Commands['fail'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local worker = Check.name(arg[2], 'worker')
  local group = Check.text(arg[3], 'group')
  local message = Check.text(arg[4], 'message')
  local data = arg[5] and Check.json(arg[5], 'data')
  local known = call('hmget', Key.job(jid), 'state', 'worker', 'queue', 'history', 'throttles')
  Check.owned(jid, worker, known)
  Check.placed(jid, known[3])
  local queue = known[3]
  local may_be_tracked = Config.others(Key.tracked) > 0
  Config.prefetch('max-job-history', 'max-failure-message', 'host-max-failures')
  local failure = Failures.make(now, group, message, worker)
  Failures.record(now, jid, queue, known[4], failure, true, data)
  call('zrem', Key.locks(queue), jid)
  call('zrem', Key.worker_jobs(worker), jid)
  if known[5] then
    Throttle.release(now, jid, known[5], queue, 'running')
  end
  if Config.text('host-max-failures') then
    Limits.failed(now, jid, worker)
  end
  Events.failed(jid, failure, failure.worker)
  if may_be_tracked then
    Events.if_tracked('failed', jid)
  end
  return jid
end
