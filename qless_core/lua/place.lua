-- Which keys there are: what a key is, by its name, and the key of a place that holds jobs, or names.

-- Stands for a name while a key is taken apart.
local MARK = '\1'

-- What a function of keys.lua puts before and behind a name.
local function around(make)
  local text = make(MARK)
  local at = string.find(text, MARK, 1, true)
  return string.sub(text, 1, at - 1), string.sub(text, at + 1)
end

-- The keys that are there once: name -> what it is, and of which type.
local ONCE = {
  [Key.queues] = { 'queues', 'zset' },
  [Key.paused_queues] = { 'paused', 'set' },
  [Key.workers] = { 'workers', 'zset' },
  [Key.tracked] = { 'tracked', 'zset' },
  [Key.completed] = { 'completed', 'zset' },
  [Key.failures] = { 'failures', 'set' },
  [Key.tags] = { 'tags', 'zset' },
  [Key.config] = { 'config', 'hash' },
  [Key.crons] = { 'crons', 'zset' },
  [Key.archive] = { 'archive', 'hash' },
}

-- The keys that are there for each name: what it is, of which type, and how it is spelt.
local NAMED = {}

local function named(place, make, kind)
  local head, tail = around(make)
  NAMED[#NAMED + 1] = { place, kind, head, tail }
end

named('job', Key.job, 'hash')
named('recurring', Key.recurring, 'hash')
named('cron_job', Key.cron_job, 'hash')
named('cron_runs', Key.cron_runs, 'zset')
named('cron', Key.cron, 'zset')
named('work', Key.work, 'zset')
named('locks', Key.locks, 'zset')
named('scheduled', Key.scheduled, 'zset')
named('depends', Key.depends, 'zset')
named('throttled', Key.throttled, 'zset')
named('awaited', Key.awaited, 'zset')
named('wake', Key.wake, 'zset')
named('waited', Key.waited, 'string')
named('lookout', Key.lookout, 'string')
named('shards', Key.shards, 'hash')
named('nudge', Key.nudge, 'zset')
named('once', Key.once, 'string')
named('throttle_locks', Key.throttle_locks, 'zset')
named('throttle_pending', Key.throttle_pending, 'zset')
named('throttle', Key.throttle, 'hash')
named('starts', Key.starts, 'list')
named('host_workers', Key.host_workers, 'zset')
named('host_failures', Key.host_failures, 'zset')
named('recur', Key.recur, 'zset')
named('worker', Key.worker_jobs, 'zset')
named('worker_info', Key.worker_info, 'string')
named('worker_asked', Key.worker_asked, 'string')
named('failed', Key.failed, 'list')
named('tag', Key.tag, 'zset')

-- The sides of a job: the end of the key, and its type.
local SIDES = {}
for _, side in ipairs({ { 'history', 'list' }, { 'dependencies', 'set' }, { 'dependents', 'set' } }) do
  local _, tail = around(Key[side[1]])
  SIDES[#SIDES + 1] = { side[1], side[2], tail }
end

-- Place.side(name) -> which side of a job lies under the key that `Place.of` says is the job of this name, the
-- type that belongs there, and the jid; nil for none.
function Place.side(name)
  for _, side in ipairs(SIDES) do
    local tail = side[3]
    if #name > #tail and string.sub(name, -#tail) == tail then
      return side[1], side[2], string.sub(name, 1, -#tail - 1)
    end
  end
  return nil
end

-- Place.of(key) -> what a key is, the name in it, and the type that belongs there; nil for a key that
-- nobody knows. A job's sides are 'job' here: their names may be jids.
function Place.of(key)
  local once = ONCE[key]
  if once then
    return once[1], '', once[2]
  end
  for _, known in ipairs(NAMED) do
    local head, tail = known[3], known[4]
    local least = known[1] == 'failed' and 0 or 1 -- a group may have no name
    if string.sub(key, 1, #head) == head and #key >= #head + #tail + least
      and (tail == '' or string.sub(key, -#tail) == tail) then
      return known[1], string.sub(key, #head + 1, #key - #tail), known[2]
    end
  end
  return nil
end

-- The key of a place: what `Place.of` says, the other way.
local PLACES = {
  work = Key.work, locks = Key.locks, scheduled = Key.scheduled, depends = Key.depends,
  recur = Key.recur, cron = Key.cron, worker = Key.worker_jobs, failed = Key.failed, tag = Key.tag,
  dependencies = Key.dependencies, dependents = Key.dependents, throttled = Key.throttled,
  throttle_locks = Key.throttle_locks, throttle_pending = Key.throttle_pending,
  completed = function() return Key.completed end,
  tracked = function() return Key.tracked end,
  workers = function() return Key.workers end,
  tags = function() return Key.tags end,
  failures = function() return Key.failures end,
  crons = function() return Key.crons end,
}

-- Place.key(place, name) -> the key; nil for a place that there is none of.
function Place.key(place, name)
  local make = PLACES[place]
  return make and make(name)
end

-- The sets of a queue that hold its jobs, and the states that fit there.
Place.FITS = {
  work = { waiting = true, stalled = true },
  locks = { running = true },
  scheduled = { scheduled = true },
  depends = { depends = true },
  throttled = { throttled = true },
}

-- What the keys of a day's figures begin with.
Place.FIGURES = around(function(mark) return Key.stats(mark, 0, '') end)

-- Place.is_ours(key) -> whether the console keeps it.
function Place.is_ours(key)
  local own = Key.event('web:')
  return string.sub(key, 1, #own) == own
end
