-- Looking over the database for what does not fit together. Each look is at one subject, a job, an
-- entry of a set, a key, in one call: so a job on its way is never taken for a lost one. The caller
-- walks (`audit.scan`, `audit.walk`) and gets what was found, and what is left to look at, as a call
-- does little and leaves the rest; `audit.look` looks at single subjects; repair.lua mends them.

-- What a pattern of SCAN must not read as its own.
local function literal(text)
  return (string.gsub(text, '[%*%?%[%]\\]', '\\%0'))
end

-- cursor_of(text) -> the cursor, for Redis to read.
local function cursor_of(text)
  if not text or #text > 20 or not string.match(text, '^%d+$') then
    Check.must('cursor', 'a cursor of this walk, or 0', text)
  end
  return text
end

local function count_of(text)
  local count = Check.count(text, 'count')
  if count < 1 then
    Check.must('count', 'a whole number from 1 up', text)
  end
  return count
end

-- audit.scan cursor count -> JSON {"cursor", "keys", "found": [{kind, note, subject}], "left": [subject],
-- "links": {jid: [jid]}}. Looks at the keys of one step of SCAN; a cursor of 0 begins, and 0 in the
-- reply ends. `left` is what there was no time for, or
-- no way to be sure of: for audit.look or, where it begins with `walk`, for
-- audit.walk, or with `data` or `failed`, for the caller to see whether the data is JSON, or the group
-- lists the job. `links` has jobs that wait and are waited for: rings are the caller's to find. Reads only.
Commands['audit.scan'] = function(now, arg)
  local cursor = cursor_of(arg[1])
  local count = count_of(arg[2])
  local see = Sight.new(now, false)
  local reply = call('scan', cursor, 'match', literal(Key.namespace) .. '*', 'count', count)
  for _, key in ipairs(reply[2]) do
    Sight.visit(see, 'scanned', key)
  end
  return '{"cursor":' .. encode(reply[1]) .. ',"keys":' .. #reply[2] .. ',' .. Sight.told(see)
end

-- audit.walk place name cursor count -> JSON as audit.scan: the entries of one set or list.
-- Reads only.
Commands['audit.walk'] = function(now, arg)
  local place = Check.text(arg[1], 'place')
  local name = Check.text(arg[2], 'name')
  local cursor = cursor_of(arg[3])
  local count = count_of(arg[4])
  local key = Entries.has(place) and Place.key(place, name)
  if not key then
    Check.must('place', 'a place that holds many', place)
  end
  local see = Sight.new(now, false)
  local kind = Stored.type_of(key)
  local members, after = {}, '0'
  if kind == 'list' then
    members = call('lrange', key, cursor, tonumber(cursor) + count - 1)
    if #members == count then
      after = string.format('%.0f', tonumber(cursor) + count)
    end
  elseif kind == 'zset' then
    local reply = call('zscan', key, cursor, 'count', count)
    after = reply[1]
    for i = 1, #reply[2], 2 do
      members[#members + 1] = reply[2][i]
    end
  elseif kind == 'set' then
    local reply = call('sscan', key, cursor, 'count', count)
    after, members = reply[1], reply[2]
  end
  for _, member in ipairs(members) do
    Sight.visit(see, 'entry', place, name, member)
  end
  return '{"cursor":' .. encode(after) .. ',"keys":' .. #members .. ',' .. Sight.told(see)
end

-- audit.look [subject]... -> JSON as audit.scan. Each subject is a JSON list, as audit.scan leaves them.
-- Reads only.
Commands['audit.look'] = function(now, arg)
  local subjects = {}
  for i, text in ipairs(Check.names(arg, 1, 'subject')) do
    subjects[i] = Sight.subject(text)
    if not subjects[i] then
      Check.must('subject', 'a JSON list that names what to look at', text)
    end
  end
  local see = Sight.new(now, false)
  for _, subject in ipairs(subjects) do
    Sight.take(see, subject)
  end
  return '{"cursor":"0","keys":' .. #subjects .. ',' .. Sight.told(see)
end
