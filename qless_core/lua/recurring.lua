-- Jobs that come back every so many seconds: define, change, tag, end. spawn.lua makes the children.

local function missing(jid)
  Check.refuse('RECURRING_NOT_FOUND', 'Recurring job ' .. jid .. ' does not exist', 1)
end

-- recur queue jid klass data interval seconds offset
--   [priority p, tags json, retries n, backlog n, keep-next-run 1]... -> jid.
-- First run at now + offset. Doing it again updates, moves the queue, resets the options that are
-- not given and the next run, and keeps the count of children. With `keep-next-run` 1 (an addition
-- of ours, for whoever does this at every start) a next run that is known stays.
Commands['recur'] = function(now, arg)
  local queue = Check.name(arg[1], 'queue')
  local jid = Check.name(arg[2], 'jid')
  local klass = Check.text(arg[3], 'klass')
  local data = Check.json(arg[4], 'data')
  local spec = Check.text(arg[5], 'spec')
  if spec ~= 'interval' then
    Check.must('spec', 'interval', spec)
  end
  local interval = Check.positive(arg[6], 'interval')
  local offset = Check.number(arg[7], 'offset')
  local options = Check.options(arg, 8)
  local priority = Check.number(options.priority, 'priority', 0)
  local retries = Check.whole(options.retries, 'retries', 0)
  local backlog = Check.count(options.backlog, 'backlog', 0)
  local tags = options.tags and Tags.distinct(Check.strings(options.tags, 'tags')) or {}
  local keep = Check.count(options['keep-next-run'], 'keep-next-run', 0)

  local key = Key.recurring(jid)
  local known = call('hmget', key, 'count', 'queue')
  local next_run = now + offset
  if known[2] then
    local old_run = call('zscore', Key.recur(known[2]), jid)
    if keep > 0 and old_run then
      next_run = old_run
    end
  end
  call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority,
    'tags', Json.list(tags), 'state', 'recur', 'queue', queue, 'type', 'interval',
    'count', Check.finite(known[1]) or 0, 'interval', interval, 'retries', retries,
    'backlog', backlog)
  call('zadd', Key.recur(queue), next_run, jid)
  if known[2] and known[2] ~= queue then
    call('zrem', Key.recur(known[2]), jid)
  end
  Queue.remember(queue, now)
  return jid
end

-- recur.get jid -> JSON, or nil. Reads only.
Commands['recur.get'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local known = call('hmget', Key.recurring(jid), 'jid', 'klass', 'state', 'queue', 'priority',
    'interval', 'retries', 'count', 'data', 'tags', 'backlog')
  if not known[1] then
    return nil
  end
  local function number(i)
    return Json.number(Check.finite(known[i]) or 0)
  end
  return '{"jid":' .. encode(known[1])
    .. ',"klass":' .. encode(known[2] or '')
    .. ',"state":' .. encode(known[3] or 'recur')
    .. ',"queue":' .. encode(known[4] or '')
    .. ',"priority":' .. number(5)
    .. ',"interval":' .. number(6)
    .. ',"retries":' .. number(7)
    .. ',"count":' .. number(8)
    .. ',"data":' .. encode(known[9] or '{}')
    .. ',"tags":' .. Json.list(Tags.stored(known[10]))
    .. ',"backlog":' .. number(11) .. '}'
end

-- What each key of recur.update takes. `throttles` is known to other clients and changes nothing.
local UPDATES = {
  priority = function(value) return Check.number(value, 'priority') end,
  interval = function(value) return Check.positive(value, 'interval') end,
  retries = function(value) return Check.whole(value, 'retries') end,
  backlog = function(value) return Check.count(value, 'backlog') end,
  data = function(value) return Check.json(value, 'data') end,
  klass = function(value) return value end,
  queue = function(value) return Check.name(value, 'queue') end,
  throttles = function() return nil end,
}

-- recur.update jid [key value]... -> 1. Keys: priority interval retries data klass queue backlog.
-- A new interval moves the next run by the difference.
-- Refuses: RECURRING_NOT_FOUND; BAD_ARGUMENT, and then nothing is changed.
Commands['recur.update'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local changes = {}
  for name, value in pairs(Check.options(arg, 2)) do
    local check = UPDATES[name]
    if not check then
      Check.refuse('BAD_ARGUMENT', 'option "' .. name .. '" is not known')
    end
    changes[name] = check(value)
  end
  local key = Key.recurring(jid)
  local known = call('hmget', key, 'queue', 'interval')
  local queue = known[1]
  if not queue then
    missing(jid)
  end
  local next_run = call('zscore', Key.recur(queue), jid)
  if changes.interval and next_run then
    local old = Check.finite(known[2])
    if not old or old <= 0 then
      old = changes.interval -- no interval at all: nothing to move by
    end
    next_run = tonumber(next_run) + changes.interval - old
    call('zadd', Key.recur(queue), next_run, jid)
  end
  if changes.queue and changes.queue ~= queue then
    call('zadd', Key.recur(changes.queue), next_run or now, jid)
    call('zrem', Key.recur(queue), jid)
    Queue.remember(changes.queue, now)
  end
  for name, value in pairs(changes) do
    call('hset', key, name, value)
  end
  return 1
end

local function stored_tags(jid)
  local known = call('hmget', Key.recurring(jid), 'jid', 'tags')
  if not known[1] then
    missing(jid)
  end
  return known[2]
end

-- recur.tag jid tag... -> JSON list of the tags that children get.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.tag'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  Check.text(arg[2], 'tag')
  local tags = Json.list(Tags.merged(stored_tags(jid), arg))
  call('hset', Key.recurring(jid), 'tags', tags)
  return tags
end

-- recur.untag jid tag... -> JSON list of the tags left.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.untag'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  Check.text(arg[2], 'tag')
  local tags = Json.list(Tags.without(stored_tags(jid), arg))
  call('hset', Key.recurring(jid), 'tags', tags)
  return tags
end

-- unrecur jid -> 1, missing or not. Children that were made stay.
Commands['unrecur'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local queue = call('hget', Key.recurring(jid), 'queue')
  if queue then
    call('zrem', Key.recur(queue), jid)
  end
  call('del', Key.recurring(jid))
  return 1
end
