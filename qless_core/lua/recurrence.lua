-- Looks at recurring jobs, by interval and by cron expression.

-- Whether any queue has a recurring job in its set of such; but the queue `home`.
local function recurs_elsewhere(set, jid, home)
  for _, other in ipairs(call('zrange', Key.queues, 0, -1)) do
    if other ~= home and Stored.has(set(other), jid) then
      return true
    end
  end
  return false
end

-- Looks at a recurring job, of either sort; answers its fields, or nil when it is not there.
local function look_recurring(see, what, key, jid)
  see.cost(5)
  local ok, known = pcall(call, 'hmget', key, 'queue', 'interval', 'data', 'priority', 'retries',
    'backlog', 'count')
  if not ok then
    return Scan.foreign(see, key)
  elseif call('exists', key) == 0 then
    return nil
  end
  Values.numbers(see, what, jid, { priority = known[4], retries = known[5], backlog = known[6],
    count = known[7] })
  if not Json.read(known[3]) then
    see.add('odd-data', 'its data is ' .. Sight.quoted(known[3] or ''), what, jid)
  end
  return known
end

function Recurrence.recurring(see, jid)
  local known = look_recurring(see, 'recurring', Key.recurring(jid), jid)
  if not known then
    return
  end
  local queue, interval = known[1], Check.finite(known[2])
  if not interval or interval <= 0 then
    see.add('odd-interval', 'its interval is ' .. Sight.quoted(known[2] or ''), 'recurring', jid)
  end
  if not (queue and Stored.has(Key.recur(queue), jid)) and not recurs_elsewhere(Key.recur, jid, queue) then
    see.add('recurring-in-no-place', 'it says that it recurs in ' .. Sight.quoted(queue or '')
      .. ', which does not list it', 'recurring', jid)
  end
end

function Recurrence.cron_job(see, jid)
  local known = look_recurring(see, 'cron_job', Key.cron_job(jid), jid)
  if not known then
    return
  end
  local queue = known[1]
  if not (queue and Stored.has(Key.cron(queue), jid) and Stored.has(Key.crons, jid))
    and not recurs_elsewhere(Key.cron, jid, queue) then
    see.add('recurring-in-no-place', 'it says that it recurs in ' .. Sight.quoted(queue or '')
      .. ', which does not list it', 'cron_job', jid)
  end
end

-- Recurrence.runs(see, key, jid): looks at the runs planned for a job that recurs by cron expression.
function Recurrence.runs(see, key, jid)
  see.cost(2)
  if Stored.type_of(key) ~= 'zset' then
    Scan.foreign(see, key)
  elseif call('exists', Key.cron_job(jid)) == 0 then
    see.add('leftover-key', 'the recurring job ' .. Sight.quoted(jid) .. ' is gone', 'key', key)
  end
end
