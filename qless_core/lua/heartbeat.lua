-- Keeping a lock, and losing it by hand.

-- heartbeat jid worker data? -> the new end of the lock, as an integer. Registers the worker.
-- `data` is stored as it is.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING, LOCK_LOST.
Commands['heartbeat'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local worker = Check.name(arg[2], 'worker')
  local data = arg[3] and Check.json(arg[3], 'data')
  local known = call('hmget', Key.job(jid), 'state', 'worker', 'queue', 'heartbeat')
  Check.owned(jid, worker, known)
  Check.placed(jid, known[3])
  local queue = known[3]
  if Config.any() then
    Config.prefetch('heartbeat', queue .. '-heartbeat')
  end
  local score, ends = Config.lock(now, queue, known[4])
  if data then
    call('hset', Key.job(jid), 'expires', score, 'data', data)
  else
    call('hset', Key.job(jid), 'expires', score)
  end
  call('zadd', Key.locks(queue), score, jid)
  call('zadd', Key.worker_jobs(worker), score, jid)
  Worker.seen(worker, now)
  return ends
end

-- timeout jid... -> nil. Takes the locks away now: the jobs are back in work, ahead of all. `worker`
-- stays as it was, so that whoever puts the job next still tells the worker that lost it.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING; then none is touched.
-- Publishes: lock_lost.
Commands['timeout'] = function(now, arg)
  local jobs = {}
  local met = {}
  for _, jid in ipairs(Check.names(arg, 1, 'jid')) do
    if not met[jid] then
      met[jid] = true
      local known = call('hmget', Key.job(jid), 'state', 'worker', 'queue', 'history', 'throttles')
      Check.running(jid, known[1])
      Check.placed(jid, known[3])
      jobs[#jobs + 1] = { jid, known }
    end
  end
  for _, job in ipairs(jobs) do
    local jid, known = job[1], job[2]
    local worker, queue = known[2] or '', known[3]
    History.push(jid, known[4], History.item(now, '"timed-out"'))
    call('zadd', Key.work(queue), '+inf', jid)
    call('hmset', Key.job(jid), 'state', 'stalled', 'expires', 0)
    Queue.tell(queue)
    call('zrem', Key.locks(queue), jid)
    if worker ~= '' then
      call('zrem', Key.worker_jobs(worker), jid)
    end
    if known[5] then
      Throttle.release(now, jid, known[5], queue, 'running')
    end
    Events.lock_lost(jid, worker)
  end
  return nil
end
