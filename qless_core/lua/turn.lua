-- The one round trip that a busy worker makes: what it has done is finished, and the next is taken.

-- Takes up to `count` jobs from the first of the queues that gives some -> JSON list. A queue of several is
-- asked only where there is something in it. Those who wait are told of what is left.
local function take(now, worker, count, queues)
  for _, queue in ipairs(queues) do
    if #queues == 1 or call('exists', Key.work(queue), Key.locks(queue), Key.scheduled(queue),
      Key.recur(queue), Key.cron(queue), Key.throttled(queue)) > 0 then
      local jobs = Commands['pop'](now, { queue, worker, count })
      if jobs ~= '[]' then
        if call('exists', Key.waited(queue)) == 1 and call('exists', Key.work(queue)) == 1 then
          Queue.rouse(queue)
        end
        return jobs
      end
    end
  end
  Worker.seen(worker, now)
  return '[]'
end

-- turn worker count number queue... [jid queue data]... -> JSON {"done": [jid], "left": {jid: why},
-- "emptied": [], "jobs": [job], "now": n}. First finishes the jobs that are named, as `bulk.complete` does;
-- then takes up to `count` jobs from the first of `number` queues that gives some, as `pop` does. These
-- come without their `history`. `now` is the moment of the call: a lock ends so many seconds after it as
-- `expires` says.
-- What cannot be finished is left, and keeps nobody from taking; what cannot be taken, the next call tells.
-- Publishes: as complete, then as pop.
Commands['turn'] = function(now, arg)
  local worker = Check.name(arg[1], 'worker')
  local count = Check.count(arg[2], 'count')
  local number = Check.count(arg[3], 'number')
  if number < 1 or number > 1000 then
    Check.must('number', 'from 1 to 1000', arg[3])
  end
  local queues = {}
  for i = 1, number do
    queues[i] = Check.name(arg[i + 3], 'queue')
  end
  local reply = '{"done":[],"left":{},"emptied":[]}'
  local has_done = #arg > number + 3
  if has_done then
    local finish = { worker, '', '0' }
    for i = number + 4, #arg do
      finish[#finish + 1] = arg[i]
    end
    if Config.any() then
      Config.prefetch('max-job-history', 'jobs-history', 'jobs-history-count', 'heartbeat',
        queues[1] .. '-heartbeat', queues[1] .. '-max-concurrency', 'grace-period', 'rate-limits',
        'host-max-running', 'host-max-failures')
    end
    reply = Commands['bulk.complete'](now, finish)
  end
  Call.brief = true
  local ok, jobs = pcall(take, now, worker, count, queues)
  if not ok and not has_done then
    error(jobs, 0)
  end
  return string.sub(reply, 1, -2) .. ',"jobs":' .. (ok and jobs or '[]') .. ',"now":' .. Call.now .. '}'
end
