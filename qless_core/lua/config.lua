-- Options. A stored value that is no number counts as the default, so a typo stops nobody.

-- What counts until it is set. `options.py` tells people about these.
local DEFAULTS = {
  ['application'] = 'qless',
  ['heartbeat'] = 60,            -- seconds a lock lasts
  ['grace-period'] = 10,         -- seconds a worker still has when its lock ran out
  ['stats-history'] = 30,        -- days
  ['histogram-history'] = 7,     -- days
  ['jobs-history-count'] = 50000,
  ['jobs-history'] = 604800,     -- seconds
  ['max-job-history'] = 100,     -- items in the history of a job; 0 or less: no limit
  ['max-worker-age'] = 86400,    -- seconds
  ['max-failure-message'] = 32768, -- bytes; 0 or less: no limit
  ['host-failure-span'] = 600,   -- seconds
}

-- Of these `config.get` without a key shows nothing until they are set.
local UNLISTED = {
  ['max-job-history'] = true, ['max-worker-age'] = true, ['max-failure-message'] = true,
  ['host-failure-span'] = true,
}

-- What was read, and by which call: a pop of a hundred jobs asks for an option once. The tables outlive
-- the call, as filling new ones costs more than all else here; what another call has read counts for
-- nothing.
local seen, seen_by, this = {}, {}, 0

-- After so many calls they are emptied: the names of options by queue are without end. Those longer than LONG,
-- in bytes, are not kept at all.
local KEPT_FOR, LONG = 1000, 1000

-- The call that found that no option is set at all.
local unset_by

-- Config.others(key...) -> how many of these keys there are. In the same breath it asks whether there are options:
-- where none is set, which is so at most sites, none is read.
function Config.others(...)
  if unset_by == this then
    return call('exists', ...)
  end
  local there = call('exists', Key.config, ...)
  if there == 0 then
    unset_by = this
    return 0
  end
  return there - call('exists', Key.config)
end

-- Config.any() -> whether there are options, asked as Config.others does: of a key that is not there that costs less
-- than to read some of it.
function Config.any()
  if unset_by ~= this and call('exists', Key.config) == 0 then
    unset_by = this
  end
  return unset_by ~= this
end

-- Config.is_unset() -> whether this call has found that no option is set.
function Config.is_unset()
  return unset_by == this
end

-- Config.forget(): another call begins.
function Config.forget()
  this = this + 1
  if this % KEPT_FOR == 0 then
    seen, seen_by = {}, {}
  end
end

-- Whether all of these were read by this call.
local function are_seen(names)
  for i = 1, #names do
    if seen_by[names[i]] ~= this then
      return false
    end
  end
  return true
end

-- Config.prefetch(name...): one read for all the options that a command is going to need, unless a part of
-- the same call has read them.
function Config.prefetch(...)
  if unset_by == this then
    return
  end
  local names = { ... }
  if are_seen(names) then
    return
  end
  local values = call('hmget', Key.config, ...)
  for i = 1, #names do
    local name = names[i]
    if #name <= LONG then
      seen[name], seen_by[name] = values[i], this
    end
  end
end

local function stored(name)
  if unset_by == this then
    return false
  elseif seen_by[name] == this then
    return seen[name]
  end
  local value = call('hget', Key.config, name)
  if #name <= LONG then
    seen[name], seen_by[name] = value, this
  end
  return value
end

-- Config.text(name) -> what is stored, or nil.
function Config.text(name)
  return stored(name) or nil
end

-- Config.number(name, default) -> a finite number: the stored one, else the default.
function Config.number(name, default)
  if unset_by == this then
    return default or DEFAULTS[name]
  end
  local value = stored(name)
  return value and Check.finite(value) or default or DEFAULTS[name]
end

-- The longest that a lock lasts, in seconds: some 3,000 years, which a reply can tell.
local LONGEST = 1e11

-- Config.lock(now, queue, own) -> when the lock of a job that begins now ends, as Redis writes a number, and
-- as a number: by the job's own `heartbeat` where it has one, else by its queue's, else by that of all.
function Config.lock(now, queue, own)
  local seconds = own and Check.finite(own)
  if (not seconds or seconds <= 0) and unset_by == this then
    seconds = DEFAULTS.heartbeat
  elseif not seconds or seconds <= 0 then
    local of_queue = stored(queue .. '-heartbeat')
    seconds = of_queue and Check.finite(of_queue) or Config.number('heartbeat')
  end
  local ends = now + math.min(seconds, LONGEST)
  return string.format('%.17g', ends), ends
end

-- config.get key? -> the value, its default, or nil; without a key: JSON of all. Reads only.
Commands['config.get'] = function(_, arg)
  if arg[1] then
    local name = Check.name(arg[1], 'key')
    return call('hget', Key.config, name) or (not UNLISTED[name] and DEFAULTS[name] or nil)
  end
  local all = {}
  for name, value in pairs(DEFAULTS) do
    all[name] = not UNLISTED[name] and value or nil
  end
  local pairs_set = call('hgetall', Key.config)
  for i = 1, #pairs_set, 2 do
    all[pairs_set[i]] = pairs_set[i + 1]
  end
  return encode(all)
end

-- config.set key value -> nil. Takes any text. Publishes config_set.
Commands['config.set'] = function(_, arg)
  local name = Check.name(arg[1], 'key')
  local value = Check.text(arg[2], 'value')
  call('hset', Key.config, name, value)
  Events.config_set(name, value)
  return nil
end

-- config.unset key -> nil. Publishes config_unset.
Commands['config.unset'] = function(_, arg)
  local name = Check.name(arg[1], 'key')
  call('hdel', Key.config, name)
  Events.config_unset(name)
  return nil
end
