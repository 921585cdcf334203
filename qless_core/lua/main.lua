-- The entry, `Answer(keys, argv)` with argv `command now args...`: runs the command and answers a refusal
-- as an error reply `CODE user_script:<line>: Command(): sentence`. script.py has it called, by EVALSHA
-- or as a function of the server.

-- The one key that a script for a namespace with a hash tag takes, so that a cluster routes the call.
local ROUTE = string.match(Key.namespace, '{[^}]+}')

-- The moment: a number as it is, or the server's own clock for the word `auto`.
local function moment(word)
  if word == 'auto' then
    local time = call('time')
    Call.now = time[1] .. '.' .. string.sub('00000' .. time[2], -6)
    return tonumber(Call.now)
  end
  local now = tonumber(word)
  if not now or not (now >= 0 and now <= LATEST) then
    Check.must('now', 'a number from 0 to 1e11', word)
  end
  Call.now = string.find(word, '^%d+%.?%d*$') and word or string.format('%.17g', now)
  return now
end

local function run(keys, argv)
  local command = Commands[argv[1] or '']
  if not command then
    Check.refuse('UNKNOWN_COMMAND', 'there is no such command')
  end
  if ROUTE and (#keys ~= 1 or keys[1] ~= ROUTE) then
    Check.refuse('BAD_ARGUMENT', 'takes the one key ' .. ROUTE .. ', got ' .. #keys)
  elseif not ROUTE and #keys > 0 then
    Check.refuse('BAD_ARGUMENT', 'takes no keys, got ' .. #keys)
  end
  return command(moment(argv[2]), Check.rest(argv, 3))
end

-- As a function of the server all of this lives on from call to call: what one call has learned must not
-- be believed by the next.
local function forget()
  Config.forget()
  Call.uncounted, Call.command, Call.told, Call.unfinished = nil, nil, nil, nil
  Call.brief = nil
end

Answer = function(keys, argv)
  forget()
  local ok, reply = pcall(run, keys, argv)
  if Call.uncounted then
    pcall(Stats.settle)
  end
  if ok then
    return reply
  end
  if type(reply) == 'table' and reply.code then
    local asked = Call.command or argv[1] or 'qless'
    local name = string.gsub(Check.short(asked, 100), '^%l', string.upper)
    local where = string.gsub(reply.where, '^user_function', 'user_script')
    return redis.error_reply(reply.code .. ' ' .. where .. name .. '(): ' .. reply.sentence)
  end
  -- A fault of the script, or an error of Redis: as it came. Redis 7 wraps it in a table.
  if type(reply) == 'table' then
    return reply
  end
  return redis.error_reply(reply)
end
