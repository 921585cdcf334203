-- Recurring jobs that are due become jobs. First it is planned, without a write: peek shows the plan,
-- pop carries it out. There are two kinds, by interval and by cron expression, each in its own set.

-- How many entries that cannot run are passed over in one go.
local MOST_BROKEN = 100

-- The most children of a kind that one call makes; the next one goes on.
local MOST_CHILDREN = 1000

-- The highest number of a child; more digits than these its name would not tell.
local HIGHEST = 1e13

-- No run was due before this; what says so was never a moment.
local EARLIEST = -1e11

-- Spawn.options(arg, from) -> what children get by the options of a definition: priority, retries, tags,
-- throttles; and backlog.
function Spawn.options(arg, from)
  local options = Check.options(arg, from)
  return {
    priority = Check.number(options.priority, 'priority', 0),
    retries = Check.retries(options.retries, 0),
    backlog = Check.count(options.backlog, 'backlog', 0),
    tags = options.tags and Tags.distinct(Check.tags(options.tags)) or {},
    throttles = options.throttles and Throttle.given(options.throttles) or {},
    given = options,
  }
end

-- The number of the next child, after `count`: skips those whose data still exists, so that none is
-- overwritten, however the count came to start again. Doubling steps, then halving ones: as quick
-- over a hundred thousand children as over ten. nil when it would be beyond all bounds.
local function next_number(jid, count)
  local function taken(n)
    local child = jid .. '-' .. Json.number(n)
    return call('exists', Key.job(child), Key.history(child), Key.dependencies(child),
      Key.dependents(child)) > 0
  end
  if not taken(count + 1) then
    return count + 1
  end
  local low, step = count + 1, 1
  while taken(low + step) do
    low = low + step
    step = step * 2
    if low + step > HIGHEST then
      return nil
    end
  end
  local high = low + step
  while high - low > 1 do
    local middle = floor((low + high) / 2)
    if taken(middle) then
      low = middle
    else
      high = middle
    end
  end
  return high
end

-- When it is due, as a list from `score` on, at most `room` of them; and the run after those.
-- With whole seconds as interval, runs fall on whole seconds.
local function runs(now, score, interval, backlog, room)
  if score < EARLIEST then
    score = now
  end
  if interval % 1 == 0 then
    score = floor(score)
  end
  if backlog > 0 then
    local owed = (now - score) / interval
    if owed > backlog then
      score = score + math.ceil(owed - backlog) * interval
    end
  end
  local due = {}
  while score <= now and #due < room do
    due[#due + 1] = score
    local after = score + interval
    if after <= score then -- an interval too small for the clock to show
      after = now + 1
    end
    score = after
  end
  return due, score
end

-- The fields of a recurring job, of either kind, in the order of the HMGET that reads them.
local FIELDS = {
  'jid', 'klass', 'data', 'priority', 'tags', 'retries', 'backlog', 'count', 'interval', 'planned',
  'throttles', 'queue', 'held',
}
local KLASS, DATA, PRIORITY, TAGS, RETRIES, BACKLOG, COUNT, INTERVAL, PLANNED, THROTTLES, QUEUE, HELD =
  2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13

-- Of each kind: `set`, where it waits in its queue; `hash`, where it is stored; `due(now, jid, score,
-- known, room)` -> list of moments, and when it is next due, or nil when it cannot run; `move(queue,
-- moved)` writes what plan_one found; `gone(queue, jid)` takes an entry without a job away.
local Interval = { set = Key.recur, hash = Key.recurring }

function Interval.due(now, _, score, known, room)
  local interval = Check.finite(known[INTERVAL])
  if not interval or interval <= 0 then
    return nil
  end
  return runs(now, score, interval, Check.finite(known[BACKLOG]) or 0, room)
end

function Interval.move(queue, moved)
  call('hset', Key.recurring(moved.jid), 'count', moved.count)
  call('zadd', Key.recur(queue), moved.next_run, moved.jid)
end

function Interval.gone(queue, jid)
  call('zrem', Key.recur(queue), jid)
end

local Planned = { set = Key.cron, hash = Key.cron_job }

-- With a backlog, and no planned run to come, nobody knows which runs were the last: it is due again when
-- the plan is extended.
function Planned.due(now, jid, _, known, room)
  local key = Key.cron_runs(jid)
  local backlog = Check.finite(known[BACKLOG]) or 0
  local first = 0
  if backlog > 0 then
    if (Check.finite(known[PLANNED]) or math.huge) <= now then
      return {}, '+inf'
    end
    first = math.max(call('zcount', key, '-inf', now) - floor(backlog) - 1, 0)
  end
  local found = call('zrange', key, first, first + room)
  local due = {}
  for i, run in ipairs(found) do
    local when = tonumber(run)
    if when > now or i > room then
      return due, when
    end
    due[i] = when
  end
  return due, '+inf'
end

function Planned.move(queue, moved)
  local last = moved.due[#moved.due]
  if last then
    call('hmset', Key.cron_job(moved.jid), 'count', moved.count, 'made', last)
    call('zremrangebyscore', Key.cron_runs(moved.jid), '-inf', last)
  end
  call('zadd', Key.cron(queue), moved.next_run, moved.jid)
end

function Planned.gone(queue, jid)
  Cron.forget(jid, queue)
end

-- What is stored of one recurring job, and which of its runs are due. Reads only.
local function look(kind, now, jid, score, room)
  local known = call('hmget', kind.hash(jid), unpack(FIELDS))
  if not known[1] then
    return nil
  end
  return known, kind.due(now, jid, score, known, room)
end

-- count_of(known) -> how many children it had, by what is stored.
local function count_of(known)
  local count = floor(Check.finite(known[COUNT]) or 0)
  return (count < 0 or count > HIGHEST) and 0 or count
end

-- child_of(jid, known, number, when) -> what becomes of one run, for `make`.
local function child_of(jid, known, number, when)
  local priority = Check.finite(known[PRIORITY]) or 0
  return {
    jid = jid .. '-' .. Json.number(number),
    parent = jid,
    klass = known[KLASS] or '',
    data = known[DATA] or '{}',
    priority = priority,
    tags = Tags.stored(known[TAGS]),
    retries = Check.finite(known[RETRIES]) or 0,
    throttles = known[THROTTLES] or nil,
    when = floor(when),
    score = Queue.score(priority, floor(when)),
  }
end

-- Spawn.known(jid) -> what there is of a recurring job of either kind: `set` and `hash`, the functions that
-- name its keys; `queue`, where it recurs; `held`, the run that it was paused before, `interval`, nil of a
-- cron job, and `planned`, its last planned run, each as stored. nil when there is none.
function Spawn.known(jid)
  for _, kind in ipairs({ Interval, Planned }) do
    local known = call('hmget', kind.hash(jid), unpack(FIELDS))
    if known[1] then
      return {
        set = kind.set, hash = kind.hash, is_cron = kind == Planned, queue = known[QUEUE] or '',
        held = known[HELD], interval = known[INTERVAL], planned = known[PLANNED], fields = known,
      }
    end
  end
  return nil
end

-- plan_one(plan, kind, now, queue, jid, score, room): adds the children of one recurring job.
-- Answers how many, or nil when it cannot run.
local function plan_one(plan, kind, now, queue, jid, score, room)
  local ok, known, due, next_run = pcall(look, kind, now, jid, score, room)
  if ok and not known then
    plan.gone[#plan.gone + 1] = { kind = kind, jid = jid }
  end
  if not ok or not due then
    return nil
  end
  local count = count_of(known)
  local made = 0
  for _, when in ipairs(due) do
    local number = next_number(jid, count)
    if not number then
      break
    end
    count = number
    made = made + 1
    plan.children[#plan.children + 1] = child_of(jid, known, count, when)
  end
  plan.moved[#plan.moved + 1] = { kind = kind, jid = jid, count = count, due = due, next_run = next_run }
  return made
end

-- plan_kind(plan, kind, now, queue, room): adds the children of all of a kind that are due.
local function plan_kind(plan, kind, now, queue, room)
  local visited, broken = 0, 0
  while room > 0 and broken < MOST_BROKEN and visited < MOST_CHILDREN do
    local found = call('zrangebyscore', kind.set(queue), '-inf', now, 'withscores',
      'limit', visited, room)
    if #found == 0 then
      return
    end
    for i = 1, #found, 2 do
      local made = plan_one(plan, kind, now, queue, found[i], tonumber(found[i + 1]), room)
      visited = visited + 1
      if not made then
        broken = broken + 1
      else
        room = room - made
      end
      if room <= 0 then
        return
      end
    end
  end
end

-- Spawn.plan(now, queue, room) -> {children, moved, gone}: of each kind at most `room` children, and no
-- more than MOST_CHILDREN. Reads only.
function Spawn.plan(now, queue, room)
  local plan = { children = {}, moved = {}, gone = {} }
  plan_kind(plan, Interval, now, queue, math.min(room, MOST_CHILDREN))
  plan_kind(plan, Planned, now, queue, math.min(room, MOST_CHILDREN))
  return plan
end

local function make(now, queue, child)
  Queue.to_work(queue, child.jid, child.priority, child.when)
  Tags.index(now, child.jid, child.tags)
  call('hmset', Key.job(child.jid), 'jid', child.jid, 'klass', child.klass, 'data', child.data,
    'priority', child.priority, 'tags', Json.list(child.tags), 'state', 'waiting', 'worker', '',
    'expires', 0, 'queue', queue, 'retries', child.retries, 'remaining', child.retries,
    'time', Json.time(child.when), 'spawned_from_jid', child.parent)
  if child.throttles then
    call('hset', Key.job(child.jid), 'throttles',
      Throttle.moved(Throttle.ids(child.throttles), nil, queue))
  end
  History.push(child.jid, false,
    History.item(child.when, '"put"', '{"q":' .. encode(queue) .. '}'))
end

-- Spawn.run(now, queue, room): the plan, carried out. Children are put when they were due.
function Spawn.run(now, queue, room)
  local plan = Spawn.plan(now, queue, room)
  for _, child in ipairs(plan.children) do
    make(now, queue, child)
  end
  for _, moved in ipairs(plan.moved) do
    moved.kind.move(queue, moved)
    Queue.tell_later(queue, tonumber(moved.next_run) - now)
  end
  for _, entry in ipairs(plan.gone) do
    entry.kind.gone(queue, entry.jid)
  end
end

-- Spawn.at_once(now, jid, known) -> the jid of a child that is made now, beside the runs that are due when
-- they are; nil where there is no number left for it.
function Spawn.at_once(now, jid, known)
  local number = next_number(jid, count_of(known.fields))
  if not number then
    return nil
  end
  local child = child_of(jid, known.fields, number, now)
  make(now, known.queue, child)
  call('hmset', known.hash(jid), 'count', number, 'ran', child.when)
  return child.jid
end
