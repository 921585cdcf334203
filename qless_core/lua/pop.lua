-- Taking jobs from a queue, and looking at what would be taken.

-- The most jids that one command of Redis is given; Lua cannot unpack many more than this.
local CHUNK = 1000

-- The most entries without a job that one pop clears away.
local MOST_GHOSTS = 1000

-- Scheduled jobs whose time has come go to work.
local function promote(now, queue, room)
  if room <= 0 then
    return
  end
  local scheduled = Key.scheduled(queue)
  for _, jid in ipairs(call('zrangebyscore', scheduled, '-inf', now, 'limit', 0, room)) do
    local known = call('hmget', Key.job(jid), 'jid', 'priority', 'state', 'queue')
    call('zrem', scheduled, jid)
    if known[1] and not Queue.is_elsewhere(jid, known[3], known[4], scheduled) then
      Queue.to_work(queue, jid, Check.finite(known[2]) or 0, now)
      call('hset', Key.job(jid), 'state', 'waiting')
    end
  end
end

-- What several jobs share is written once: add(key, score, jid) collects, flush() writes.
local function zadd_many(key, score, jids)
  for from = 1, #jids, CHUNK do
    local args = {}
    for i = from, math.min(from + CHUNK - 1, #jids) do
      args[#args + 1] = score
      args[#args + 1] = jids[i]
    end
    call('zadd', key, unpack(args))
  end
end

-- take(pop, jid, fields): gives one job to the worker. The reply is made of what was read and what is
-- written here: nothing is read twice.
local function take(pop, jid, fields)
  local now = pop.now
  local legacy = fields[Job.HISTORY]
  local item = History.item(now, 'popped', pop.item)
  local items = History.read(jid, false)
  if History.push(jid, legacy, item) then
    items[#items + 1] = item
  else
    items = History.read(jid, false)
  end
  pop.waits[#pop.waits + 1] = now - (Check.finite(fields[Job.TIME]) or now)
  call('hmset', Key.job(jid), 'state', 'running', 'worker', pop.worker, 'expires', pop.expires,
    'time', pop.time)
  if fields[Job.QUEUE] ~= pop.queue then
    -- The original's `retry` can put a job into a queue without telling it.
    call('hset', Key.job(jid), 'queue', pop.queue)
  end
  if fields[Job.GRACE] then
    call('hdel', Key.job(jid), 'grace') -- was for a lock before
  end
  local tracked = call('zscore', Key.tracked, jid)
  if tracked then
    Events.job('popped', jid)
  end
  fields[Job.STATE], fields[Job.QUEUE] = 'running', pop.queue
  fields[Job.WORKER], fields[Job.EXPIRES] = pop.worker, pop.expires
  pop.jids[#pop.jids + 1] = jid
  pop.jobs[#pop.jobs + 1] = Job.json(fields, {
    history = items,
    tracked = tracked,
    dependents = call('smembers', Key.dependents(jid)),
    dependencies = call('smembers', Key.dependencies(jid)),
  })
end

-- The fields of a job that can be had from the set that names it; nil for an entry without a job, and
-- for one that the job left behind: it must not run twice.
local function found_in(here, jid)
  local fields = Job.fields(jid)
  if fields and not Queue.is_elsewhere(jid, fields[Job.STATE], fields[Job.QUEUE], here) then
    return fields
  end
  return nil
end

-- Takes up to `room` jobs out of the work set, passing over entries without a job.
local function take_work(pop, room)
  local work = Key.work(pop.queue)
  local ghosts = 0
  while room > 0 and ghosts < MOST_GHOSTS do
    local found = call('zpopmax', work, math.min(room, CHUNK))
    if #found == 0 then
      return
    end
    for i = 1, #found, 2 do
      local fields = found_in(work, found[i])
      if fields then
        take(pop, found[i], fields)
        room = room - 1
      else
        ghosts = ghosts + 1
      end
    end
  end
end

-- How many jobs may be taken under the queue's `max-concurrency`, of those asked for.
local function allowed(now, queue, count)
  local most = Config.number(queue .. '-max-concurrency', 0)
  if most <= 0 then
    return count
  end
  local running = call('zcount', Key.locks(queue), Json.after(now), '+inf')
  return math.min(count, math.max(floor(most) - running, 0))
end

-- pop queue worker count -> JSON list of the jobs that are now running with this worker.
-- First those whose lock and grace ran out; then, for what is left of count, owed recurring and due
-- scheduled jobs go to work and all compete by score. A paused queue gives none and registers nobody.
-- Publishes: popped, stalled, failed for tracked jobs; lock_lost; failed.
Commands['pop'] = function(now, arg)
  local queue = Check.name(arg[1], 'queue')
  local worker = Check.name(arg[2], 'worker')
  local count = Check.count(arg[3], 'count')
  if call('sismember', Key.paused_queues, queue) == 1 then
    return '[]'
  end
  Config.prefetch('heartbeat', queue .. '-heartbeat', queue .. '-max-concurrency', 'grace-period',
    'max-job-history', 'max-worker-age')
  Worker.seen(worker, now)
  count = allowed(now, queue, count)
  if count == 0 then
    return '[]'
  end
  local expires = now + Config.heartbeat(queue)
  local pop = {
    now = now,
    queue = queue,
    worker = worker,
    expires = expires,
    time = Json.time(now),
    item = '{"worker":' .. encode(worker) .. '}',
    jids = {},
    jobs = {},
    waits = {},
  }
  for _, jid in ipairs(Expire.locks(now, queue, count)) do
    take(pop, jid, Job.fields(jid))
  end
  local room = count - #pop.jids
  if room > 0 then
    if call('exists', Key.recur(queue), Key.scheduled(queue)) > 0 then
      Spawn.run(now, queue, room)
      promote(now, queue, room)
    end
    take_work(pop, room)
  end
  if #pop.jids > 0 then
    zadd_many(Key.locks(queue), expires, pop.jids)
    zadd_many(Key.worker_jobs(worker), expires, pop.jids)
    Stats.durations('wait', queue, now, pop.waits)
  end
  return Json.join(pop.jobs)
end

-- Byte by byte, as Redis compares members of one score; Lua would ask the locale.
local function is_after(a, b)
  local length = math.min(#a, #b)
  for i = 1, length do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x > y
    end
  end
  return #a > #b
end

local function competes_better(a, b)
  if a.score ~= b.score then
    return a.score > b.score
  end
  return is_after(a.jid, b.jid)
end

-- A child that no pop has made yet, as it would be.
local function unborn(queue, child)
  return Job.json({
    [Job.JID] = child.jid,
    [Job.KLASS] = child.klass,
    [Job.STATE] = 'waiting',
    [Job.QUEUE] = queue,
    [Job.PRIORITY] = child.priority,
    [Job.RETRIES] = child.retries,
    [Job.REMAINING] = child.retries,
    [Job.DATA] = child.data,
    [Job.TAGS] = Json.list(child.tags),
    [Job.PARENT] = child.parent,
  }, {
    history = { History.item(child.when, 'put', '{"q":' .. encode(queue) .. '}') },
    tracked = call('zscore', Key.tracked, child.jid),
    dependents = {},
    dependencies = {},
  })
end

-- What is not work yet but goes there with the next pop: owed children and due scheduled jobs, in the
-- order in which they would be taken.
local function due(now, queue, room)
  local candidates = Spawn.plan(now, queue, room).children
  local scheduled = Key.scheduled(queue)
  for _, jid in ipairs(call('zrangebyscore', scheduled, '-inf', now, 'limit', 0, room)) do
    local priority = Check.finite(call('hget', Key.job(jid), 'priority')) or 0
    candidates[#candidates + 1] = { jid = jid, score = Queue.score(priority, now), here = scheduled }
  end
  table.sort(candidates, competes_better)
  return candidates
end

-- waiting(queue, room) -> function that answers the next entry of the work set, or nil. It reads as
-- many as there is room for, and more, in growing steps, where these turn out to have no job.
local function waiting(queue, room)
  local work = Key.work(queue)
  local found, at, from, step = {}, 1, 0, room
  return function()
    if at > #found then
      found = call('zrevrange', work, from, from + step - 1, 'withscores')
      at, from, step = 1, from + step, math.min(step * 2, CHUNK)
    end
    if not found[at] then
      return nil
    end
    at = at + 2
    return { jid = found[at - 2], score = tonumber(found[at - 1]), here = work }
  end
end

-- Adds the next jobs to a list until it has `count`: what is due and what waits, the better first.
local function add_next(jobs, now, queue, count)
  local room = count - #jobs
  local first = due(now, queue, room)
  local next_waiting = waiting(queue, room)
  local entry = next_waiting()
  local at, ghosts = 1, 0
  while #jobs < count and ghosts < MOST_GHOSTS and (first[at] or entry) do
    local candidate = first[at]
    if not candidate or (entry and competes_better(entry, candidate)) then
      candidate = entry
      entry = next_waiting()
    else
      at = at + 1
    end
    local job
    if candidate.parent then
      job = unborn(queue, candidate)
    else
      local fields = found_in(candidate.here, candidate.jid)
      job = fields and Job.shown(now, candidate.jid, fields)
    end
    if job then
      jobs[#jobs + 1] = job
    else
      ghosts = ghosts + 1
    end
  end
end

-- peek queue count -> JSON list of the jobs that are next, in the order of pop. Reads only: what is
-- due is shown as the pop would have it, and children that are owed are shown without being made.
Commands['peek'] = function(now, arg)
  local queue = Check.name(arg[1], 'queue')
  local count = Check.count(arg[2], 'count')
  local jobs = {}
  if count == 0 then
    return '[]'
  end
  local locks = Key.locks(queue)
  for _, jid in ipairs(call('zrangebyscore', locks, '-inf', now, 'limit', 0, count)) do
    local fields = found_in(locks, jid)
    if fields and fields[Job.STATE] == 'running' then
      jobs[#jobs + 1] = Job.shown(now, jid, fields)
    end
  end
  if #jobs < count then
    add_next(jobs, now, queue, count)
  end
  return Json.join(jobs)
end
