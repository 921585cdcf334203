-- What the fields of a job hold, for the audit: numbers, tags and data that are none, bytes that are no text.

-- The most bytes of data that are read as JSON here; a longer text is for the caller to read.
local LONGEST_DATA = 65536

-- Whether a text is UTF-8.
local function is_utf8(text)
  if not string.find(text, '[\128-\255]') then
    return true
  end
  for _, pattern in ipairs({
    '\240[\144-\191][\128-\191][\128-\191]', '[\241-\243][\128-\191][\128-\191][\128-\191]',
    '\244[\128-\143][\128-\191][\128-\191]', '\224[\160-\191][\128-\191]',
    '\237[\128-\159][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
    '[\194-\223][\128-\191]',
  }) do
    text = string.gsub(text, pattern, ' ')
  end
  return not string.find(text, '[\128-\255]')
end

-- The numbers of a job, and of a recurring one, and what counts in the place of one that is none.
Values.NUMBERS = {
  job = { { 'priority', 0 }, { 'retries', 5 }, { 'remaining', 5 } },
  recurring = { { 'priority', 0 }, { 'retries', 0 }, { 'backlog', 0 }, { 'count', 0 } },
}
Values.NUMBERS.cron_job = Values.NUMBERS.recurring

-- Values.numbers(see, what, jid, job): looks at the numbers of a job of any sort.
function Values.numbers(see, what, jid, job)
  local odd = {}
  for _, number in ipairs(Values.NUMBERS[what]) do
    local name = number[1]
    if job[name] and not Check.finite(job[name]) then
      odd[#odd + 1] = name .. ' is ' .. Sight.quoted(job[name])
    end
  end
  if #odd > 0 then
    see.add('odd-number', table.concat(odd, ', '), what, jid)
  end
end

-- Values.look(see, jid, job): looks at all that a job holds.
function Values.look(see, jid, job)
  Values.numbers(see, 'job', jid, job)
  local tags = job.tags
  if tags and tags ~= '[]' and tags ~= '{}' then
    local ok, value = Json.read(tags)
    if not ok or not Json.strings(value) then
      see.add('odd-tags', 'its tags are ' .. Sight.quoted(tags), 'job', jid)
    end
  end
  local data = job.data
  if data and #data > LONGEST_DATA and not see.deep then
    see.later('data', jid)
  elseif not data or not Json.read(data) then
    see.add('odd-data', data and 'its data is ' .. Sight.quoted(data) or 'it has no data', 'job', jid)
  end
  for _, name in ipairs({ 'jid', 'klass', 'queue', 'tags', 'data' }) do
    local text = job[name]
    if text and (see.deep or #text <= LONGEST_DATA) and not is_utf8(text) then
      see.add('not-utf8', 'its ' .. name .. ' has bytes that are no text', 'job', jid)
      break
    end
  end
end
