-- Jobs that come back every so many seconds, and what is done to recurring jobs of either kind: change,
-- tag, end. cron.lua defines those of the other kind; spawn.lua makes the children.

local function missing(jid)
  Check.refuse('RECURRING_NOT_FOUND', 'Recurring job ' .. jid .. ' does not exist', 1)
end

-- find(jid, field...) -> its fields, its key, and the function that names the set in which it waits in its
-- queue. The first field is one that every recurring job has.
local function find(jid, ...)
  local known = call('hmget', Key.recurring(jid), ...)
  if known[1] then
    return known, Key.recurring(jid), Key.recur
  end
  return call('hmget', Key.cron_job(jid), ...), Key.cron_job(jid), Key.cron
end

-- recur queue jid klass data interval seconds offset
--   [priority p, tags json, retries n, backlog n, throttles json, keep-next-run 1]... -> jid.
-- First run at now + offset. Doing it again updates, moves the queue, resets the options that are
-- not given and the next run, and keeps the count of children. With `keep-next-run` 1 (an addition
-- of ours, for whoever does this at every start) a next run that is known stays. What is paused stays
-- so. A cron job of that jid becomes this one, with its count.
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
  local options = Spawn.options(arg, 8)
  local keep = Check.count(options.given['keep-next-run'], 'keep-next-run', 0)

  local key = Key.recurring(jid)
  local known = call('hmget', key, 'count', 'queue', 'throttles', 'held')
  local next_run = now + offset
  local held = nil
  if known[2] then
    local old_run = call('zscore', Key.recur(known[2]), jid)
    if known[4] and not Check.finite(old_run) then
      held = keep > 0 and known[4] or Json.number(next_run)
      next_run = '+inf'
    elseif keep > 0 and old_run then
      next_run = old_run
    end
  end
  local cron = not known[2] and Cron.known(jid)
  call('zadd', Key.recur(queue), next_run, jid)
  call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', options.priority,
    'tags', Json.list(options.tags), 'state', 'recur', 'queue', queue, 'type', 'interval',
    'count', Check.finite(cron and cron.count or known[1]) or 0, 'interval', interval,
    'retries', options.retries, 'backlog', options.backlog)
  if held then
    call('hset', key, 'held', held)
  else
    Queue.tell_later(queue, next_run - now)
  end
  if #options.throttles > 0 or known[3] then
    call('hset', key, 'throttles', Throttle.moved(options.throttles, nil, queue))
  end
  if known[2] and known[2] ~= queue then
    call('zrem', Key.recur(known[2]), jid)
  end
  if cron then
    Cron.forget(jid, cron.queue)
  end
  Queue.remember(queue, now)
  return jid
end

-- When it runs next, as text; nil where that is not known.
local function next_run_of(jid, set, queue)
  local score = queue and call('zscore', set(queue), jid)
  return Check.finite(score) and Json.number(score)
end

-- recur.get jid -> JSON, or nil. Of a cron job the interval is 0, and there are `cron`, `timezone` and
-- `next`, too. Reads only.
Commands['recur.get'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local known, _, set = find(jid, 'jid', 'klass', 'state', 'queue', 'priority', 'interval', 'retries',
    'count', 'data', 'tags', 'backlog', 'cron', 'timezone', 'throttles')
  if not known[1] then
    return nil
  end
  local more = ''
  if known[12] then
    more = ',"cron":' .. encode(known[12]) .. ',"timezone":' .. encode(known[13] or '')
      .. ',"next":' .. (next_run_of(jid, set, known[4]) or 'null')
  end
  local throttles = known[14] and Throttle.ids(known[14]) or {}
  if #throttles > 0 then
    more = more .. ',"throttles":' .. Json.list(throttles)
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
    .. ',"backlog":' .. number(11) .. more .. '}'
end

-- recur.next jid -> epoch seconds of the next run as text, or nil: no such job, or none is planned. It may
-- be past, where no pop has come by. Reads only.
Commands['recur.next'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local known, _, set = find(jid, 'queue')
  return next_run_of(jid, set, known[1])
end

-- What each key of recur.update takes.
local UPDATES = {
  priority = function(value) return Check.number(value, 'priority') end,
  interval = function(value) return Check.positive(value, 'interval') end,
  retries = function(value) return Check.retries(value) end,
  backlog = function(value) return Check.count(value, 'backlog') end,
  data = function(value) return Check.json(value, 'data') end,
  klass = function(value) return value end,
  queue = function(value) return Check.name(value, 'queue') end,
  throttles = function(value) return Throttle.given(value) end,
  cron = function(value) return Check.name(value, 'cron') end,
  timezone = function(value) return Check.name(value, 'timezone') end,
  runs = function(value) return Cron.runs(value) end,
}

-- The keys that one kind has and the other has not.
local OF_INTERVAL = { 'interval' }
local OF_CRON = { 'cron', 'timezone', 'runs' }

local function refuse_other(changes, names, kind)
  for _, name in ipairs(names) do
    if changes[name] then
      Check.refuse('BAD_ARGUMENT', 'option "' .. name .. '" is not for a job that recurs by ' .. kind, 1)
    end
  end
end

-- A new interval moves the next run by the difference. Answers what is to be written of it: all.
local function change_interval(jid, changes, queue)
  local next_run = call('zscore', Key.recur(queue), jid)
  if changes.interval and next_run then
    local old = Check.finite(call('hget', Key.recurring(jid), 'interval'))
    if not old or old <= 0 then
      old = changes.interval -- no interval at all: nothing to move by
    end
    call('zadd', Key.recur(queue), tonumber(next_run) + changes.interval - old, jid)
    Queue.tell(queue)
  end
end

-- A new expression or time zone comes with the runs that it has.
local function change_cron(now, jid, changes)
  local was = Cron.known(jid)
  local fresh, since = Cron.fresh(now, was, changes.cron or was.cron, changes.timezone or was.timezone,
    changes.runs)
  if fresh then
    changes.planned = fresh[#fresh]
    Cron.replace(now, jid, fresh, since)
  end
end

-- recur.update jid [key value]... -> 1. Keys: priority retries data klass queue backlog throttles;
-- interval, or, of a cron job, cron timezone and the runs that these have: one of both and `runs` go
-- together. A new interval moves the next run by the difference; another expression or time zone replaces the
-- runs to come.
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
  if (changes.cron or changes.timezone) and not changes.runs then
    Check.must('runs', 'given with another expression or time zone')
  end
  local known, key, set = find(jid, 'queue', 'throttles')
  local queue = known[1]
  if not queue then
    missing(jid)
  end
  if set == Key.cron then
    refuse_other(changes, OF_INTERVAL, 'cron')
    if changes.runs then
      change_cron(now, jid, changes)
      changes.runs = nil
    end
  else
    refuse_other(changes, OF_CRON, 'interval')
    change_interval(jid, changes, queue)
  end
  if changes.queue then
    if changes.queue ~= queue then
      call('zadd', set(changes.queue), call('zscore', set(queue), jid) or now, jid)
      call('zrem', set(queue), jid)
      Queue.tell(changes.queue)
    end
    Queue.remember(changes.queue, now)
  end
  if changes.throttles or (changes.queue and known[2]) then
    changes.throttles = Throttle.moved(changes.throttles or Throttle.ids(known[2]), queue,
      changes.queue or queue)
  end
  for name, value in pairs(changes) do
    call('hset', key, name, value)
  end
  if set == Key.cron then
    Cron.wait(jid, changes.queue or queue) -- another backlog may let runs be made that waited
  end
  return 1
end

local function stored_tags(jid)
  local known, key = find(jid, 'jid', 'tags')
  if not known[1] then
    missing(jid)
  end
  return known[2], key
end

-- recur.tag jid tag... -> JSON list of the tags that children get.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.tag'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  Check.text(arg[2], 'tag')
  local stored, key = stored_tags(jid)
  local tags = Json.list(Tags.merged(stored, arg))
  call('hset', key, 'tags', tags)
  return tags
end

-- recur.untag jid tag... -> JSON list of the tags left.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.untag'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  Check.text(arg[2], 'tag')
  local stored, key = stored_tags(jid)
  local tags = Json.list(Tags.without(stored, arg))
  call('hset', key, 'tags', tags)
  return tags
end

-- unrecur jid -> 1, missing or not. Children that were made stay.
Commands['unrecur'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local queue = call('hget', Key.recurring(jid), 'queue')
  call('del', Key.recurring(jid))
  if queue then
    call('zrem', Key.recur(queue), jid)
  end
  local cron = call('hget', Key.cron_job(jid), 'queue')
  if cron then
    Cron.forget(jid, cron)
  end
  return 1
end
