-- A queue's figures by day: counters, running mean and variance (Welford), and histograms.

local DAY = 86400

-- The histogram's buckets in the order of the reply: 60 seconds, 59 minutes, 23 hours, 6 days.
local SHAPE = { { 's', 0, 59 }, { 'm', 1, 59 }, { 'h', 1, 23 }, { 'd', 1, 6 } }

-- How far back the days of a queue are cleared when a new one begins, in days. A queue that slept
-- for longer loses the older ones to the expiry set on each key.
local SWEEP = 370

-- The most bytes of names that are written for that: where the name of a queue is very long, fewer days.
local MOST_BYTES = 1e6

-- At most so many days, of which each takes so many keys, and one at least.
local function days_for(queue, most, keys)
  return math.max(math.min(most, floor(MOST_BYTES / keys / (#queue + 30))), 1)
end

-- Stats.bin(when) -> midnight UTC of that day. Whole, so that it prints as an integer.
function Stats.bin(when)
  return when - when % DAY
end

-- The last day that a figure was counted for, as text.
local today, today_text

-- The key of figures of the day that holds a moment. Redis and Lua write a number slowly.
local function key_of(kind, when, queue)
  local bin = when - when % DAY
  if bin ~= today then
    today, today_text = bin, string.format('%.14g', bin)
  end
  return Key.stats(kind, today_text, queue)
end

-- Clears what is older than `stats-history` days and lets this key expire by itself some day.
-- Called for the first figure of a queue's day, so once a day for each queue and kind.
local function retain(key, queue, bin)
  local days = math.min(math.max(floor(Config.number('stats-history')), 0), 3650)
  local old = {}
  for age = days + 1, days + days_for(queue, SWEEP, 3) do
    local past = bin - age * DAY
    if past < 0 then
      break
    end
    old[#old + 1] = Key.stats('stats', past, queue)
    old[#old + 1] = Key.stats('wait', past, queue)
    old[#old + 1] = Key.stats('run', past, queue)
  end
  if #old > 0 then
    call('del', unpack(old))
  end
  -- In the server's own time, so a day longer than asked for cannot be too short.
  call('expire', key, (days + 2) * DAY)
end

-- The most days whose histograms are looked at when a new day begins, and the most bars of one: a hash with
-- more is none of ours.
local THINNED, MOST_BARS = 31, 1000

-- Clears the bars of the histograms that are older than `histogram-history` days; count, mean and deviation
-- of those days stay for `stats-history`. Called as retain.
local function thin(kind, queue, bin)
  local days = math.min(math.max(floor(Config.number('histogram-history')), 0), 3650)
  for age = days + 1, days + days_for(queue, THINNED, 1) do
    local key = Key.stats(kind, bin - age * DAY, queue)
    local bars = {}
    local ok, names = pcall(call, 'hkeys', key)
    for _, name in ipairs(ok and names or {}) do
      if name ~= 'total' and name ~= 'mean' and name ~= 'vk' and #bars < MOST_BARS then
        bars[#bars + 1] = name
      end
    end
    if #bars > 0 then
      call('hdel', key, unpack(bars))
    end
  end
end

-- Where something else lies under the key of a day's figures, they are left out: no job is to wait for that.

local function count(queue, when, name, other)
  local key = key_of('stats', when, queue)
  if call('hincrby', key, name, '1') == 1 then
    retain(key, queue, Stats.bin(when))
  end
  if other then
    call('hincrby', key, other, '1')
  end
end

-- Stats.count(queue, when, name, other): one more of `retries`, `failures` or `failed` on that day, and of
-- another one where it is given.
function Stats.count(queue, when, name, other)
  Check.unless_foreign(count, queue, when, name, other)
end

-- Stats.uncount_failed(queue, when): a failed job that is failed no more leaves the day and the queue it
-- was counted in, when the call ends: of many jobs, most were counted in the same place.
function Stats.uncount_failed(queue, when)
  local key = Key.stats('stats', Stats.bin(when), queue)
  Call.uncounted = Call.uncounted or {}
  Call.uncounted[key] = (Call.uncounted[key] or 0) + 1
end

local function uncount(key, number)
  local counted = Check.finite(call('hget', key, 'failed'))
  if counted and counted > 0 then
    call('hset', key, 'failed', math.max(floor(counted) - number, 0))
  end
end

-- Stats.settle(): what the call has uncounted. What was never counted cannot be taken off: never below
-- zero.
function Stats.settle()
  for key, number in pairs(Call.uncounted) do
    Check.unless_foreign(uncount, key, number)
  end
end

local function bucket(seconds)
  if seconds < 60 then
    return 's' .. floor(seconds)
  elseif seconds < 3600 then
    return 'm' .. floor(seconds / 60)
  elseif seconds < DAY then
    return 'h' .. floor(seconds / 3600)
  end
  return 'd' .. floor(seconds / DAY)
end

-- The names of the bars of waits and runs below a minute, as most are.
local SECONDS = {}

-- What is stored of figures, as numbers.
local function figures(known)
  local total, mean = tonumber(known[1]) or 0, tonumber(known[2]) or 0
  local vk, count = tonumber(known[3]) or 0, tonumber(known[4]) or 0
  local all = total + mean + vk + count
  if all - all == 0 then
    return total, mean, vk, count
  end
  -- One is infinite, or no number.
  return Check.finite(known[1]) or 0, Check.finite(known[2]) or 0, Check.finite(known[3]) or 0,
    Check.finite(known[4]) or 0
end

-- Adds one duration to the figures under a key; answers whether it is the first.
local function add_one(key, seconds)
  local bar = SECONDS[floor(seconds)]
  if not bar then
    bar = bucket(seconds)
    if seconds < 60 then
      SECONDS[floor(seconds)] = bar
    end
  end
  local total, before, vk, count = figures(call('hmget', key, 'total', 'mean', 'vk', bar))
  total = total + 1
  local mean = before + (seconds - before) / total
  vk = vk + (seconds - mean) * (seconds - before)
  call('hmset', key, 'total', Json.whole(total), 'mean', mean, 'vk', vk, bar, Json.whole(floor(count) + 1))
  return total == 1
end

local function add_duration(kind, queue, now, seconds)
  local key = key_of(kind, now, queue)
  if add_one(key, seconds > 0 and seconds or 0) then
    retain(key, queue, Stats.bin(now))
    thin(kind, queue, Stats.bin(now))
  end
end

-- Stats.duration(kind, queue, now, seconds): adds to the `wait` or `run` figures of the day. A clock that
-- ran ahead makes no negative durations: they count as 0.
function Stats.duration(kind, queue, now, seconds)
  Check.unless_foreign(add_duration, kind, queue, now, seconds)
end

local function add_durations(kind, queue, now, seconds)
  local bin = Stats.bin(now)
  local key = Key.stats(kind, bin, queue)
  local read = { 'total', 'mean', 'vk' }
  local counts = {}
  for i, value in ipairs(seconds) do
    if value < 0 then
      seconds[i] = 0
    end
    local name = bucket(seconds[i])
    if not counts[name] then
      read[#read + 1] = name
      counts[name] = 0
    end
    counts[name] = counts[name] + 1
  end
  local known = call('hmget', key, unpack(read))
  local total = Check.finite(known[1]) or 0
  local mean = Check.finite(known[2]) or 0
  local vk = Check.finite(known[3]) or 0
  local is_new = total == 0
  for _, value in ipairs(seconds) do
    total = total + 1
    local before = mean
    mean = mean + (value - mean) / total
    vk = vk + (value - mean) * (value - before)
  end
  local written = { 'total', total, 'mean', mean, 'vk', vk }
  for i = 4, #read do
    written[#written + 1] = read[i]
    written[#written + 1] = floor(Check.finite(known[i]) or 0) + counts[read[i]]
  end
  call('hmset', key, unpack(written))
  if is_new then
    retain(key, queue, bin)
    thin(kind, queue, bin)
  end
end

-- Stats.durations(kind, queue, now, seconds): the same for many, a list.
function Stats.durations(kind, queue, now, seconds)
  if #seconds == 1 then
    return Stats.duration(kind, queue, now, seconds[1])
  end
  Check.unless_foreign(add_durations, kind, queue, now, seconds)
end

local function summary(kind, bin, queue)
  local names = { 'total', 'mean', 'vk' }
  for _, part in ipairs(SHAPE) do
    for i = part[2], part[3] do
      names[#names + 1] = part[1] .. i
    end
  end
  local values = call('hmget', Key.stats(kind, bin, queue), unpack(names))
  local count = Check.finite(values[1]) or 0
  local vk = Check.finite(values[3]) or 0
  local histogram = {}
  for i = 4, #values do
    histogram[i - 3] = Json.number(Check.finite(values[i]) or 0)
  end
  local std = 0
  if count > 1 and vk > 0 then
    std = math.sqrt(vk / (count - 1))
  end
  return '{"count":' .. Json.number(count)
    .. ',"mean":' .. Json.number(Check.finite(values[2]) or 0)
    .. ',"std":' .. Json.number(std)
    .. ',"histogram":' .. Json.join(histogram) .. '}'
end

-- stats queue date -> JSON of the day (UTC) that holds `date`. Reads only.
Commands['stats'] = function(_, arg)
  local queue = Check.name(arg[1], 'queue')
  local bin = Stats.bin(Check.number(arg[2], 'date'))
  local counts = call('hmget', Key.stats('stats', bin, queue), 'retries', 'failed', 'failures')
  return '{"retries":' .. Json.number(Check.finite(counts[1]) or 0)
    .. ',"failed":' .. Json.number(Check.finite(counts[2]) or 0)
    .. ',"failures":' .. Json.number(Check.finite(counts[3]) or 0)
    .. ',"wait":' .. summary('wait', bin, queue)
    .. ',"run":' .. summary('run', bin, queue) .. '}'
end
