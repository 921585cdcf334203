-- A request that is carried out once, however often it is sent: for callers that lost the answer.

-- For how many seconds an outcome is kept; nobody asks again for that long.
local KEPT = 600

-- The command of that name, which is carried out once; refuses what is none.
local function wrapped(name)
  local command = name ~= 'once' and name ~= 'once.next' and Commands[Check.name(name, 'command')]
  if not command then
    Check.must('command', 'one of the other commands', name)
  end
  return command
end

-- once id command args... -> what the command answers. Sent again with the same id it runs nothing, and
-- answers the same, for KEPT seconds. A refusal is no outcome: nothing was written, so it may be asked
-- again. In a full server the record, which comes first, is what is refused.
-- Refuses, reads, writes and publishes as the command does. Ours.
Commands['once'] = function(now, arg)
  local key = Key.once(Check.name(arg[1], 'id'))
  local name = arg[2]
  local command = wrapped(name)
  local outcome = call('get', key)
  if outcome then
    return cjson.decode(outcome)[1]
  end
  call('set', key, '[]', 'ex', KEPT)
  Call.command = name
  local ok, reply = pcall(command, now, Check.rest(arg, 3))
  if not ok then
    call('del', key)
    error(reply, 0)
  end
  call('set', key, encode({ reply }), 'ex', KEPT)
  return reply
end

-- once.next sender number seconds command args... -> what the command answers: as `once`, for one who sends one
-- request after the other, each with a higher number than the one before. Of a sender only what came of the last
-- request is kept, and that for so many seconds. One with a lower number runs nothing, and answers nil: its
-- answer was had, or nobody waits for it any more.
-- Refuses, reads, writes and publishes as the command does. Ours.
Commands['once.next'] = function(now, arg)
  local key = Key.once(Check.name(arg[1], 'sender'))
  local number = Check.count(arg[2], 'number')
  local seconds = math.ceil(math.min(Check.positive(arg[3], 'seconds'), 1e9))
  local name = arg[4]
  local command = wrapped(name)
  local stored = call('get', key)
  local last = Json.object(stored)
  if type(last[1]) == 'number' and (last[1] > number or (last[1] == number and #last > 1)) then
    return last[1] == number and last[2][1] or nil
  end
  local begun = '[' .. Json.number(number) .. ']'
  call('set', key, begun, 'ex', seconds)
  Call.command = name
  local ok, reply = pcall(command, now, Check.rest(arg, 5))
  if not ok then
    if stored then
      call('set', key, stored, 'ex', seconds)
    else
      call('del', key)
    end
    error(reply, 0)
  end
  call('set', key, string.sub(begun, 1, -2) .. ',' .. encode({ reply }) .. ']', 'ex', seconds)
  return reply
end
