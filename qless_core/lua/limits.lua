-- Limits that are options: how often jobs of a class start, how many run at once on a host, and the pauses
-- of a host on which too much fails, and of a job whose lock was lost. Where an option is not set, or holds
-- what makes no sense, there is no such limit.

-- The longest pause of a host, in seconds, however much fails there.
local LONGEST_PAUSE = 300

-- The longest that a job waits after it was dropped, in seconds.
local LONGEST_BACKOFF = 86400

-- The longest time over which starts are counted, in seconds, and the most starts.
local LONGEST_SPAN, MOST_STARTS = 1e9, 1e6

-- What the text of the option `rate-limits` says: read once, as long as it stays the same.
local rates_text, rates = nil, {}

-- rate_of(klass) -> count and seconds, or nil.
local function rate_of(klass)
  local text = Config.text('rate-limits')
  if not text then
    return nil
  end
  if text ~= rates_text then
    rates_text, rates = text, Json.object(text)
  end
  local rate = rates[klass]
  if type(rate) ~= 'table' then
    return nil
  end
  local count, seconds = Check.finite(rate[1]), Check.finite(rate[2])
  if not count or not seconds or count < 1 or seconds <= 0 then
    return nil
  end
  return math.min(floor(count), MOST_STARTS), math.min(seconds, LONGEST_SPAN)
end

-- Limits.start(now, jid, fields) -> nil when a job may start now, and counts; else the moment for which it
-- has a start of its own, so that each job waits once, in the order in which they came. It is to be
-- scheduled for then. One that comes late for its start is looked at like a new one. The list of starts
-- holds the last `count`, those to come among them.
function Limits.start(now, jid, fields)
  local count, seconds = rate_of(fields[Job.KLASS])
  if not count then
    return nil
  end
  local mine = Check.finite(call('hget', Key.job(jid), 'slot'))
  if mine and mine > now and mine < now + LONGEST_SPAN then
    return mine
  elseif mine then
    call('hdel', Key.job(jid), 'slot')
    if mine > now - seconds then
      return nil
    end
  end
  local key = Key.starts(fields[Job.KLASS])
  local oldest = Check.finite(call('lindex', key, count - 1))
  local at = oldest and math.max(oldest + seconds, now) or now
  call('lpush', key, string.format('%.17g', at))
  call('ltrim', key, 0, count - 1)
  call('expire', key, math.ceil(at - now + seconds) + 1)
  if at <= now then
    return nil
  end
  call('hset', Key.job(jid), 'slot', string.format('%.17g', at))
  return at
end

-- Limits.host(worker) -> the host of a worker: its name without the `-<pid>` behind, and without the number
-- of eight digits or more, longer than any pid, that a process or thread of it has behind that.
function Limits.host(worker)
  worker = string.match(worker, '^(.+)%-%d%d%d%d%d%d%d%d+$') or worker
  return string.match(worker, '^(.+)%-%d+$') or worker
end

-- How many jobs run on a host, and that this worker is one of its workers.
local function running_on(now, host, worker)
  local key = Key.host_workers(host)
  local age = Config.number('max-worker-age')
  call('zadd', key, now, worker)
  call('expire', key, math.max(math.ceil(age), 1))
  local running = 0
  for _, other in ipairs(call('zrange', key, 0, -1)) do
    local held = call('zcount', Key.worker_jobs(other), Json.after(now), '+inf')
    running = running + held
    if held == 0 and other ~= worker and tonumber(call('zscore', key, other)) < now - age then
      call('zrem', key, other)
    end
  end
  return running
end

-- How many jobs a host may take now on which some failed, of those asked for.
local function slowed(now, host, most, count)
  local key = Key.host_failures(host)
  local span = math.max(Config.number('host-failure-span'), 1)
  local failures = call('zcount', key, Json.after(now - span), '+inf')
  if failures <= most then
    return count
  end
  local last = tonumber(call('zrange', key, -1, -1, 'withscores')[2])
  local pause = math.min(2 ^ (failures - most), LONGEST_PAUSE)
  return now < last + pause and 0 or math.min(count, 1)
end

-- Limits.room(now, worker, count) -> how many jobs this worker may take for its host's sake, of those asked
-- for.
function Limits.room(now, worker, count)
  local host = Limits.host(worker)
  local most = floor(Config.number('host-max-running', 0))
  if most > 0 and count > 0 then
    count = math.max(math.min(count, most - running_on(now, host, worker)), 0)
  end
  most = floor(Config.number('host-max-failures', 0))
  if most > 0 and count > 0 then
    count = slowed(now, host, most, count)
  end
  return count
end

-- Limits.failed(now, jid, worker): a job failed with this worker, or lost its lock there. For callers that
-- know that `host-max-failures` is set.
function Limits.failed(now, jid, worker)
  local most = floor(Config.number('host-max-failures', 0))
  if most <= 0 or not worker or worker == '' then
    return
  end
  local key = Key.host_failures(Limits.host(worker))
  local span = math.max(Config.number('host-failure-span'), 1)
  call('zadd', key, now, Json.number(now) .. ' ' .. jid)
  call('zremrangebyscore', key, '-inf', now - span)
  -- So many make the longest pause; more are not to be kept.
  call('zremrangebyrank', key, 0, -most - 12)
  call('expire', key, math.ceil(span))
end

-- Limits.backoff(remaining, retries) -> for how many seconds a job whose lock was lost waits before it is
-- handed out again; 0: not at all. It doubles with each retry that the job has used up.
function Limits.backoff(remaining, retries)
  local first = Config.number('drop-backoff', 0)
  if first <= 0 then
    return 0
  end
  local used = math.max(math.min(retries - remaining, 40), 1)
  return math.min(first * 2 ^ (used - 1), LONGEST_BACKOFF)
end
