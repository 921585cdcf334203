-- A request that is carried out once, however often it is sent: for callers that lost the answer.

-- For how many seconds an outcome is kept; nobody asks again for that long.
local KEPT = 600

-- once id command args... -> what the command answers. Sent again with the same id it runs nothing, and
-- answers the same, for KEPT seconds. A refusal is no outcome: nothing was written, so it may be asked
-- again. In a full server the record, which comes first, is what is refused.
-- Refuses, reads, writes and publishes as the command does. Ours.
Commands['once'] = function(now, arg)
  local key = Key.once(Check.name(arg[1], 'id'))
  local name = Check.name(arg[2], 'command')
  local command = name ~= 'once' and Commands[name]
  if not command then
    Check.must('command', 'one of the other commands', name)
  end
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
