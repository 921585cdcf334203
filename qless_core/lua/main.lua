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
  -- What Lua reads and begins with a digit, but no 0, and ends with one, is to Redis the same number; Lua reads
  -- nothing behind a zero byte.
  local first, last = byte(word, 1), byte(word, -1)
  if first > 48 and first <= 57 and last >= 48 and last <= 57 and not string.find(word, '\0', 1, true) then
    Call.now = word
  else
    Call.now = string.format('%.17g', now)
  end
  return now
end

-- run(keys, argv, name): `name` is the first of argv, of which the command gets those behind the moment.
local function run(keys, argv, name)
  local command = Commands[name or '']
  if not command then
    Check.refuse('UNKNOWN_COMMAND', 'there is no such command')
  end
  if keys[1] ~= ROUTE or keys[2] then
    Check.refuse('BAD_ARGUMENT', (ROUTE and 'takes the one key ' .. ROUTE or 'takes no keys') .. ', got ' .. #keys)
  end
  local now = moment(argv[2])
  local count = #argv
  for i = 3, count do
    argv[i - 2] = argv[i]
  end
  argv[count], argv[count - 1] = nil, nil
  return command(now, argv)
end

-- As a function of the server all of this lives on from call to call: what one call has learned must not
-- be believed by the next.
Answer = function(keys, argv)
  local asked = argv[1]
  Config.forget()
  Call.uncounted, Call.command, Call.told, Call.unfinished, Call.brief = nil, nil, nil, nil, nil
  local ok, reply = pcall(run, keys, argv, asked)
  if Call.uncounted then
    pcall(Stats.settle)
  end
  if ok then
    return reply
  end
  if type(reply) == 'table' and reply.code then
    local name = string.gsub(Check.short(Call.command or asked or 'qless', 100), '^%l', string.upper)
    local where = string.gsub(reply.where, '^user_function', 'user_script')
    return redis.error_reply(reply.code .. ' ' .. where .. name .. '(): ' .. reply.sentence)
  end
  -- A fault of the script, or an error of Redis: as it came. Redis 7 wraps it in a table.
  if type(reply) == 'table' then
    return reply
  end
  return redis.error_reply(reply)
end
