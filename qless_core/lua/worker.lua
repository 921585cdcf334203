-- Which workers are there, and what each one holds.

-- How many workers that were not seen for long are forgotten in passing, at most.
local CHUNK = 20

-- Worker.seen(worker, now): notes a sign of life. The first one of a worker is the occasion to forget
-- those who gave none for long: so they do not grow in number, and what happens often costs nothing.
function Worker.seen(worker, now)
  if call('zadd', Key.workers, Call.now, worker) == 0 then
    return
  end
  local before = now - Config.number('max-worker-age')
  for _, old in ipairs(call('zrangebyscore', Key.workers, '-inf', before, 'limit', 0, CHUNK)) do
    if old ~= worker then
      call('zrem', Key.workers, old)
      call('del', Key.worker_jobs(old))
    end
  end
end

-- workers -> JSON list of {name, jobs, stalled}, most recent first.
-- workers worker -> JSON {jobs: [jid], stalled: [jid]}.
-- Those not seen for `max-worker-age` seconds are left out. At the very moment that a lock ends it is
-- among both, as the original has it. Reads only.
Commands['workers'] = function(now, arg)
  local before = now - Config.number('max-worker-age')
  local name = arg[1]
  if name then
    local seen = call('zscore', Key.workers, Check.name(name, 'worker'))
    if seen and tonumber(seen) <= before then
      return '{"jobs":[],"stalled":[]}'
    end
    local key = Key.worker_jobs(name)
    return '{"jobs":' .. Json.list(call('zrevrangebyscore', key, '+inf', Call.now))
      .. ',"stalled":' .. Json.list(call('zrevrangebyscore', key, now, '-inf')) .. '}'
  end
  local all = {}
  local names = call('zrevrangebyscore', Key.workers, '+inf', Json.after(before))
  for i, worker in ipairs(names) do
    local key = Key.worker_jobs(worker)
    all[i] = '{"name":' .. encode(worker)
      .. ',"jobs":' .. call('zcount', key, Call.now, '+inf')
      .. ',"stalled":' .. call('zcount', key, '-inf', now) .. '}'
  end
  return Json.join(all)
end

-- Drops what a worker's set names but the worker no longer runs; what it runs stays, for whoever
-- wants to see where it is.
local function tidy(worker)
  local key = Key.worker_jobs(worker)
  for _, jid in ipairs(call('zrange', key, 0, -1)) do
    local known = call('hmget', Key.job(jid), 'state', 'worker')
    if known[1] ~= 'running' or known[2] ~= worker then
      call('zrem', key, jid)
    end
  end
end

-- worker.deregister worker... -> nil. Off the list until they are heard of again.
Commands['worker.deregister'] = function(_, arg)
  for _, worker in ipairs(Check.names(arg, 1, 'worker')) do
    call('zrem', Key.workers, worker)
    tidy(worker)
  end
  return nil
end
