-- A job that nobody runs gets other data, or another number of retries. Nothing else of it changes.

-- The states in which nobody works on what is stored: who runs a job has a copy, and writes that back when it
-- ends. What is complete says what it ran with. A job that was timed out by hand is `stalled`.
local EDITABLE = {
  waiting = true, scheduled = true, depends = true, throttled = true, failed = true, stalled = true,
}

-- Field -> the check of its new value, which gives what to store: names and values.
local FIELDS = {
  data = function(value)
    return { 'data', Check.json(value, 'new') }
  end,
  retries = function(value)
    local retries = Check.finite(value)
    if not retries or retries < 0 then
      Check.must('new', 'a whole number from 0 to 1e9', value)
    end
    local text = Json.stored(Check.retries(value))
    return { 'retries', text, 'remaining', text }
  end,
}

-- Why a job is left alone, or nil.
local function why_not(known, shown)
  if not known[1] then
    return 'gone'
  elseif not EDITABLE[known[2] or ''] then
    return known[2] or ''
  elseif shown ~= '' and redis.sha1hex(known[3] or '') ~= shown then
    return 'changed'
  end
  return nil
end

-- edit jid field shown new -> JSON {"done": [jid], "left": {jid: why}}. Writes one field of a job that nobody runs,
-- and an item of its history: `data`, JSON that is kept byte for byte, or `retries`, how many it has and how many are
-- left. `shown` is the SHA-1 of what is stored of the field as whoever edits it saw it, in small hex digits; "" where
-- that does not matter. Why it is left alone: `changed` where something else is stored now, `gone`, or the state it
-- is in. Refuses: BAD_ARGUMENT. Publishes nothing. Ours.
Commands['edit'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local field = Check.text(arg[2], 'field')
  local check = FIELDS[field] or Check.must('field', '"data" or "retries"', field)
  local shown = Check.text(arg[3], 'shown')
  if shown ~= '' and not string.match(shown, '^[0-9a-f]+$') then
    Check.must('shown', 'a SHA-1 in small hex digits, or empty', shown)
  end
  local fields = check(arg[4])
  local known = call('hmget', Key.job(jid), 'jid', 'state', field, 'history')
  local why = why_not(known, shown)
  if why then
    return '{"done":[],"left":{' .. encode(jid) .. ':' .. encode(why) .. '}}'
  end
  History.push(jid, known[4], History.item(now, '"edited"', '{"what":"' .. field .. '"}'))
  call('hset', Key.job(jid), unpack(fields))
  return '{"done":' .. Json.list({ jid }) .. ',"left":{}}'
end
