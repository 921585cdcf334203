-- Recurring jobs that are due become jobs. First it is planned, without a write: peek shows the plan,
-- pop carries it out.

-- How many entries that cannot run are passed over in one go.
local MOST_BROKEN = 100

-- The most children that one call makes; the next one goes on.
local MOST_CHILDREN = 1000

-- The highest number of a child; more digits than these its name would not tell.
local HIGHEST = 1e13

-- No run was due before this; what says so was never a moment.
local EARLIEST = -1e11

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

-- plan_one(plan, now, queue, jid, score, room): adds the children of one recurring job.
-- Answers how many, or nil when it cannot run.
local function plan_one(plan, now, queue, jid, score, room)
  local ok, known = pcall(call, 'hmget', Key.recurring(jid), 'jid', 'klass', 'data', 'priority',
    'tags', 'retries', 'interval', 'backlog', 'count')
  if not ok then
    return nil
  elseif not known[1] then
    plan.gone[#plan.gone + 1] = jid
    return nil
  end
  local interval = Check.finite(known[7])
  if not interval or interval <= 0 then
    return nil
  end
  local due, next_run = runs(now, score, interval, Check.finite(known[8]) or 0, room)
  local count = floor(Check.finite(known[9]) or 0)
  if count < 0 or count > HIGHEST then
    count = 0
  end
  local tags = Tags.stored(known[5])
  local made = 0
  for _, when in ipairs(due) do
    local number = next_number(jid, count)
    if not number then
      break
    end
    count = number
    made = made + 1
    local priority = Check.finite(known[4]) or 0
    plan.children[#plan.children + 1] = {
      jid = jid .. '-' .. Json.number(count),
      parent = jid,
      klass = known[2] or '',
      data = known[3] or '{}',
      priority = priority,
      tags = tags,
      retries = Check.finite(known[6]) or 0,
      when = floor(when),
      score = Queue.score(priority, floor(when)),
    }
  end
  plan.moved[#plan.moved + 1] = { jid = jid, count = count, next_run = next_run }
  return made
end

-- Spawn.plan(now, queue, room) -> {children, moved, gone}: at most `room` children, and no more
-- than MOST_CHILDREN. Reads only.
function Spawn.plan(now, queue, room)
  local plan = { children = {}, moved = {}, gone = {} }
  local broken = 0
  room = math.min(room, MOST_CHILDREN)
  while room > 0 and broken < MOST_BROKEN and #plan.moved < MOST_CHILDREN do
    local found = call('zrangebyscore', Key.recur(queue), '-inf', now, 'withscores',
      'limit', #plan.moved + broken, room)
    if #found == 0 then
      break
    end
    for i = 1, #found, 2 do
      local made = plan_one(plan, now, queue, found[i], tonumber(found[i + 1]), room)
      if not made then
        broken = broken + 1
      else
        room = room - made
      end
      if room <= 0 then
        break
      end
    end
  end
  return plan
end

-- Spawn.run(now, queue, room): the plan, carried out. Children are put when they were due.
function Spawn.run(now, queue, room)
  local plan = Spawn.plan(now, queue, room)
  for _, child in ipairs(plan.children) do
    Tags.index(now, child.jid, child.tags)
    call('hmset', Key.job(child.jid), 'jid', child.jid, 'klass', child.klass, 'data', child.data,
      'priority', child.priority, 'tags', Json.list(child.tags), 'state', 'waiting', 'worker', '',
      'expires', 0, 'queue', queue, 'retries', child.retries, 'remaining', child.retries,
      'time', Json.time(child.when), 'spawned_from_jid', child.parent)
    History.push(child.jid, false,
      History.item(child.when, 'put', '{"q":' .. encode(queue) .. '}'))
    Queue.to_work(queue, child.jid, child.priority, child.when)
  end
  for _, moved in ipairs(plan.moved) do
    call('hset', Key.recurring(moved.jid), 'count', moved.count)
    call('zadd', Key.recur(queue), moved.next_run, moved.jid)
  end
  for _, jid in ipairs(plan.gone) do
    call('zrem', Key.recur(queue), jid)
  end
end
