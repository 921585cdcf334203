-- Scheduled jobs made due at another time. Nothing else of them changes.

-- When they are to be due: in so many seconds, or at a moment.
local function due_at(now, spec, value)
  local number = Check.number(value, 'when')
  if spec == 'delay' then
    return now + number
  elseif spec ~= 'at' then
    Check.must('spec', '"delay" or "at"', spec)
  end
  return number
end

-- Where a job is scheduled; or nil, and why it is left alone.
local function look(jid)
  local ok, known = pcall(call, 'hmget', Key.job(jid), 'jid', 'state', 'queue')
  if not ok then
    return nil, 'unreadable'
  elseif not known[1] then
    return nil, 'gone'
  elseif known[2] ~= 'scheduled' then
    return nil, known[2] or ''
  end
  local has, score = pcall(call, 'zscore', Key.scheduled(known[3] or ''), jid)
  if not has or not score then
    return nil, 'nowhere'
  end
  return known[3]
end

-- reschedule delay seconds jid... or reschedule at moment jid... -> JSON {"done": [jid], "left": {jid: why}}.
-- Scheduled jobs are due then; a moment that is past is now. Why one is left alone: the state it is in,
-- `gone`, `nowhere` where no queue has it, or `unreadable`.
Commands['reschedule'] = function(now, arg)
  local when = due_at(now, Check.text(arg[1], 'spec'), arg[2])
  Check.name(arg[3], 'jid')
  local queues, order, left, met = {}, {}, {}, {}
  for i = 3, #arg do
    local jid = Check.name(arg[i], 'jid')
    if not met[jid] then
      met[jid] = true
      local queue, why = look(jid)
      if queue then
        queues[jid] = queue
        order[#order + 1] = jid
      else
        left[#left + 1] = encode(jid) .. ':' .. encode(why)
      end
    end
  end
  local told = {}
  for _, jid in ipairs(order) do
    local queue = queues[jid]
    call('zadd', Key.scheduled(queue), when, jid)
    if not told[queue] then
      told[queue] = true
      Queue.tell_later(queue, when - now)
    end
  end
  return '{"done":' .. Json.list(order) .. ',"left":{' .. table.concat(left, ',') .. '}}'
end
