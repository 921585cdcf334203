-- Checks of arguments, and of who holds a job. They run before anything is written; a refusal says
-- which argument and what it got. main.lua puts the command's name in front and turns the refusal
-- into an error reply.

-- The most bytes of a sentence that a client is sent: names may be of any length.
local LONGEST = 4000

-- The last byte of a text, up to `limit`, behind which a UTF-8 character begins.
local function whole(text, limit)
  while limit > 0 and string.find(text, '^[\128-\191]', limit + 1) do
    limit = limit - 1
  end
  return limit
end

-- Check.ends(text, limit) -> the beginning and the end of a text that is longer than `limit`, as much
-- of both as fits, in whole characters; and how many bytes lie between.
function Check.ends(text, limit)
  local head = whole(text, floor(limit / 2))
  local tail = #text - (limit - floor(limit / 2)) + 1
  while tail <= #text and string.find(text, '^[\128-\191]', tail) do
    tail = tail + 1
  end
  return string.sub(text, 1, head), string.sub(text, tail), tail - head - 1
end

-- Check.short(text, limit) -> the text, cut in the middle where it is longer.
function Check.short(text, limit)
  if #text <= limit then
    return text
  end
  local head, tail, bytes = Check.ends(text, limit)
  return head .. '[... ' .. bytes .. ' bytes ...]' .. tail
end

-- refuse(code, sentence, depth): stops the command. `depth` is how many callers up the line lies that
-- clients see as `user_script:<line>: `; 0 is the line that calls refuse.
-- The position comes from error() itself: the sandbox has no debug library. A tail call has none, so
-- the next caller is asked.
function Check.refuse(code, sentence, depth)
  local _, where
  for level = 3 + (depth or 0), 12 do
    _, where = pcall(error, '', level)
    if where ~= '' then
      break
    end
  end
  error({ code = code, where = where, sentence = Check.short(sentence, LONGEST) })
end

-- What the argument was, short enough for an error message.
local function got(value)
  if value == nil then
    return 'got nothing'
  end
  if #value > 100 then
    local head = whole(value, 100)
    return 'got "' .. string.sub(value, 1, head) .. '" and ' .. (#value - head) .. ' bytes more'
  end
  return 'got "' .. value .. '"'
end

local function unfit(name, what, value)
  return 'argument "' .. name .. '" must be ' .. what .. ', ' .. got(value)
end

-- must(name, what, value): refuses an argument of a command, two callers up.
local function must(name, what, value)
  Check.refuse('BAD_ARGUMENT', unfit(name, what, value), 2)
end

-- Check.must(name, what, value): the same, for a command that has looked at the value itself.
function Check.must(name, what, value)
  Check.refuse('BAD_ARGUMENT', unfit(name, what, value), 1)
end

-- As many as unpack surely takes.
local MOST_AT_ONCE = 1000

-- Check.rest(arg, from) -> the arguments from there on; thousands do not fit the stack of unpack.
function Check.rest(arg, from)
  if #arg <= MOST_AT_ONCE then
    return { unpack(arg, from) }
  end
  local rest = {}
  for i = from, #arg do
    rest[i - from + 1] = arg[i]
  end
  return rest
end

-- Check.finite(value) -> a number that is neither infinite nor NaN, or nil.
function Check.finite(value)
  local n = tonumber(value)
  if n and n - n == 0 then -- it is neither infinite nor NaN
    return n + 0 -- Redis takes no -0
  end
  return nil
end

-- Check.is_foreign(problem) -> whether an error is Redis's, of a key that holds something else, or of a number
-- in it that is none.
function Check.is_foreign(problem)
  local text = type(problem) == 'table' and problem.err or problem
  return type(text) == 'string' and (string.find(text, 'WRONGTYPE', 1, true)
    or string.find(text, 'hash value is not', 1, true) or string.find(text, 'would overflow', 1, true)) ~= nil
end

-- Check.unless_foreign(act, ...) -> whether `act(...)` could be done: not where something of another kind lies
-- under a key of it. Any other error is raised.
function Check.unless_foreign(act, ...)
  local ok, problem = pcall(act, ...)
  if not ok and not Check.is_foreign(problem) then
    error(problem, 0)
  end
  return ok
end

-- Check.text(value, name) -> the value; it may be empty, but must be there.
function Check.text(value, name)
  if value == nil then
    must(name, 'given', value)
  end
  return value
end

-- The ends of a job's other keys. A jid may end in them as well.
local SIDES = { '-history', '-dependents', '-dependencies' }

-- The letters that these end in, `s` and `y`: most jids are told by the last one.
local LAST = { [115] = true, [121] = true }

-- Check.stem(jid) -> the jid of the job of which this one's key would be a part, or nil.
function Check.stem(jid)
  if not LAST[byte(jid, -1)] then
    return nil
  end
  for _, side in ipairs(SIDES) do
    if #jid > #side and string.sub(jid, -#side) == side then
      return string.sub(jid, 1, -#side - 1)
    end
  end
  return nil
end

-- Whether the key of a job holds a part of another one.
local function is_part(jid)
  if not Check.stem(jid) then
    return false
  end
  local kind = call('type', Key.job(jid)).ok
  return kind ~= 'none' and kind ~= 'hash'
end

-- Refuses a name, two callers up, that is none; a jid also where its key is not a job's.
local function must_be_name(value, name)
  if value == nil or value == '' then
    Check.refuse('BAD_ARGUMENT', unfit(name, 'a name', value), 2)
  elseif name == 'jid' and is_part(value) then
    Check.refuse('BAD_ARGUMENT', unfit(name, 'a name whose key is no part of another job', value), 2)
  end
end

-- Check.name(value, name) -> the value; it must not be empty. A `jid` must not be the key of a part of
-- another job.
function Check.name(value, name)
  -- Nearly every name is good, and told so by this much.
  if value and value ~= '' and (name ~= 'jid' or not LAST[byte(value, -1)]) then
    return value
  end
  must_be_name(value, name)
  return value
end

-- Check.names(arg, from, name) -> the arguments from there on; at least one, none empty.
function Check.names(arg, from, name)
  local names = {}
  for i = from, math.max(#arg, from) do
    must_be_name(arg[i], name)
    names[#names + 1] = arg[i]
  end
  return names
end

-- Check.number(value, name, default) -> a finite number.
function Check.number(value, name, default)
  if value == nil and default then
    return default
  end
  local n = Check.finite(value)
  if not n then
    must(name, 'a number', value)
  end
  return n
end

-- The most retries that a job can have, and the least: more than any will need.
local MOST_RETRIES = 1e9

-- Check.retries(value, default) -> a whole number that stays one, whatever is counted off.
function Check.retries(value, default)
  if value == nil and default then
    return default
  end
  local n = Check.finite(value)
  if not n or n % 1 ~= 0 or math.abs(n) > MOST_RETRIES then
    must('retries', 'a whole number from -1e9 to 1e9', value)
  end
  return n
end

-- Check.remaining(stored) -> how many retries a job has left, a whole number: others may have put it with any
-- number of them, and no reply is to hold one that Redis cannot tell.
function Check.remaining(stored)
  return math.max(math.min(floor(Check.finite(stored) or 0), MOST_RETRIES), -MOST_RETRIES)
end

-- Check.count(value, name, default) -> a whole number from 0 up, small enough for Redis to take.
function Check.count(value, name, default)
  if value == nil and default then
    return default
  end
  local n = Check.finite(value)
  if not n or n % 1 ~= 0 or n < 0 then
    must(name, 'a whole number from 0 up', value)
  end
  return math.min(n, 1e12)
end

-- Check.stop(offset, count) -> the last rank of a page that Redis takes by rank. As in the original, a page of
-- 0 from the beginning is all that there is: its last rank is -1. Any other page of 0 has none.
function Check.stop(offset, count)
  return offset + count - 1
end

-- Check.positive(value, name) -> a number greater than 0.
function Check.positive(value, name)
  local n = Check.finite(value)
  if not n or n <= 0 then
    must(name, 'a number greater than 0', value)
  end
  return n
end

-- Check.json(value, name) -> the text itself, byte for byte, when it is JSON.
function Check.json(value, name)
  if value ~= '{}' and (value == nil or not pcall(cjson.decode, value)) then
    must(name, 'JSON', value)
  end
  return value
end

-- Check.strings(value, name) -> a Lua list, from text that is a JSON list of strings.
function Check.strings(value, name)
  local ok, decoded = Json.read(value)
  local strings = ok and Json.strings(decoded)
  if not strings then
    must(name, 'a JSON list of strings', value)
  end
  return strings
end

-- Check.tags(value) -> a Lua list, from text that is a JSON list of strings. Numbers count as their text: so the
-- field's clients send them.
function Check.tags(value)
  local ok, decoded = Json.read(value)
  if ok and type(decoded) == 'table' then
    for i, tag in ipairs(decoded) do
      decoded[i] = type(tag) == 'number' and tag - tag == 0 and tostring(tag) or tag
    end
  end
  local tags = ok and Json.strings(decoded)
  if not tags then
    must('tags', 'a JSON list of strings', value)
  end
  return tags
end

-- Check.jids(value, name) -> as Check.strings; none may be the key of a part of another job.
function Check.jids(value, name)
  local jids = Check.strings(value, name)
  for _, jid in ipairs(jids) do
    if is_part(jid) then
      must(name, 'names whose keys are no part of another job', jid)
    end
  end
  return jids
end

-- Check.object(value, name) -> the text of a JSON object, without blanks around it. It becomes a part of
-- replies, so it must be what everybody reads, and what the original script can write.
function Check.object(value, name)
  local text = value and string.match(value, '^%s*({.*})%s*$')
  local ok, object = Json.read(text)
  if not ok or not Json.is_strict(text) or not pcall(encode, object) then
    must(name, 'a JSON object', value)
  end
  return text
end

-- Check.options(arg, from) -> table of the names and values that follow the fixed arguments.
function Check.options(arg, from)
  local options = {}
  for i = from, #arg, 2 do
    if arg[i + 1] == nil then
      Check.refuse('BAD_ARGUMENT', 'option "' .. arg[i] .. '" must have a value, got nothing', 1)
    end
    options[arg[i]] = arg[i + 1]
  end
  return options
end

-- Check.memory(): for commands that take away before they add. Where memory is used up, Redis refuses
-- what may use more, and only that: then nothing is to be taken away either. Setting no bytes of a
-- key that is never there (the bare namespace) writes nothing, but counts as such a command.
function Check.memory()
  call('setrange', Key.namespace, 0, '')
end

-- Check.missing(jid): refuses, on behalf of the command that called.
function Check.missing(jid)
  Check.refuse('JOB_NOT_FOUND', 'Job ' .. jid .. ' does not exist', 1)
end

-- Refuses a state other than running, two callers up.
local function must_run(jid, state)
  if not state then
    Check.refuse('JOB_NOT_FOUND', 'Job ' .. jid .. ' does not exist', 2)
  elseif state ~= 'running' then
    Check.refuse('JOB_NOT_RUNNING', 'Job ' .. jid .. ' is not currently running: ' .. state, 2)
  end
end

-- Check.running(jid, state): refuses unless the job is there and runs, with whomever.
function Check.running(jid, state)
  must_run(jid, state)
end

-- Check.placed(jid, queue): refuses a job that says no queue. The next pop that finds its lock past tells
-- it where it is.
function Check.placed(jid, queue)
  if not queue then
    Check.refuse('JOB_NOT_RUNNING', 'Job ' .. jid .. ' is not currently running: in no queue', 1)
  end
end

-- Check.owned(jid, worker, known): refuses unless the worker holds the lock. `known` is the reply of
-- an HMGET that begins with state and worker.
function Check.owned(jid, worker, known)
  must_run(jid, known[1])
  local owner = known[2]
  if owner ~= worker then
    Check.refuse('LOCK_LOST', 'Job ' .. jid .. ' is given out to another worker: ' .. (owner or ''), 1)
  end
end
