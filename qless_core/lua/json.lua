-- JSON that cjson cannot say: empty lists, and text that must stay as it is.

-- Json.number(n) -> text: whole numbers as such, others with 14 digits, as the field's clients know.
function Json.number(n)
  return string.format('%.14g', n)
end

-- The numbers that most jobs have, as text: Redis writes a number with 17 digits, and takes its time.
local DIGITS = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }

-- Json.stored(n) -> the number as it is to be stored, as text or for Redis to write.
function Json.stored(n)
  return DIGITS[n] or n
end

-- Json.whole(n) -> the same for a whole number that grows.
function Json.whole(n)
  return DIGITS[n] or (n < 1e15 and string.format('%d', n)) or n
end

-- Whether a text is one of these.
local IS_DIGIT = {}
for _, text in pairs(DIGITS) do
  IS_DIGIT[text] = true
end

-- Json.again(text, default) -> what is stored as a number, to be stored once more; the default, where it
-- is none.
function Json.again(text, default)
  return IS_DIGIT[text] and text or Check.finite(text) or default
end

-- The last second that was written: the next call is likely to fall into the same one.
local second, second_text

-- Json.second(when) -> text of the whole seconds of a moment.
function Json.second(when)
  local whole = floor(when)
  if whole ~= second then
    second, second_text = whole, string.format('%.14g', whole)
  end
  return second_text
end

-- Json.time(when) -> text of a moment as a job's `time` field has it.
function Json.time(when)
  return string.format('%.20f', when)
end

-- Json.after(when) -> text of a bound of a sorted set that leaves the moment itself out.
function Json.after(when)
  return '(' .. string.format('%.17g', when)
end

-- Json.list(strings) -> text of a JSON list. cjson would write an empty one as `{}`.
function Json.list(strings)
  if #strings == 0 then
    return '[]'
  end
  return encode(strings)
end

-- Json.join(texts) -> text of a JSON list of what is JSON already.
function Json.join(texts)
  return '[' .. table.concat(texts, ',') .. ']'
end

-- Json.read(text) -> true and the value, or false. Never raises, whatever is stored.
function Json.read(text)
  if not text then
    return false
  end
  return pcall(cjson.decode, text)
end

-- Whether a word outside of strings is one of JSON.
local function is_word(word)
  if word == 'true' or word == 'false' or word == 'null' then
    return true
  end
  local rest = string.match(word, '^%-?0(.*)$') or string.match(word, '^%-?[1-9]%d*(.*)$')
  rest = rest and (string.match(rest, '^%.%d+(.*)$') or rest)
  return rest == '' or (rest and string.find(rest, '^[eE][+-]?%d+$')) ~= nil
end

-- Json.is_strict(text) -> whether what cjson reads is JSON for every other reader, too: cjson takes nan,
-- inf, 0x1, +1 and 01 for numbers, and control characters for text. What is not must be in no reply.
function Json.is_strict(text)
  local bare = string.gsub(string.gsub(text, '\\.', ''), '"[^"%c]*"', '')
  for word in string.gmatch(bare, '[^%s%[%]{}:,]+') do
    if not is_word(word) then
      return false
    end
  end
  return true
end

-- Json.object(text) -> a table, {} for whatever is not a JSON object or list.
function Json.object(text)
  local ok, value = Json.read(text)
  if ok and type(value) == 'table' then
    return value
  end
  return {}
end

-- Json.strings(value) -> the value, when it is a list of strings; nil when it is anything else.
-- An empty object counts as an empty list: clients in the field send `{}` for one.
function Json.strings(value)
  if type(value) ~= 'table' then
    return nil
  end
  local count = 0
  for _ in pairs(value) do
    count = count + 1
  end
  if count ~= #value then
    return nil
  end
  for _, item in ipairs(value) do
    if type(item) ~= 'string' then
      return nil
    end
  end
  return value
end
