-- Taking jobs from a queue, and looking at what would be taken.

-- The most jids that one command of Redis is given; Lua cannot unpack many more than twice as many.
local CHUNK = 1000

-- An empty list, which nobody writes to. A list made as `{ nil }` has room for one: most calls take one job,
-- and to make room costs more than to fill it.
local NONE = {}

-- Where they are in what Job.fields answers.
local STATE, QUEUE, TIME, HISTORY = Job.STATE, Job.QUEUE, Job.TIME, Job.HISTORY
local HEARTBEAT, THROTTLES = Job.HEARTBEAT, Job.THROTTLES

-- How many entries without a job to take one pop passes over in any case; and until so many seconds are over,
-- but no more than MOST_PASSED.
local MOST_GHOSTS, LONGEST_S, MOST_PASSED = 1000, 0.05, 20000

-- The most jobs of one reply: with as many the server does nothing else for a part of a second.
local MOST_JOBS = 10000

-- Scheduled jobs whose time has come go to work.
local function promote(now, queue, room)
  if room <= 0 then
    return
  end
  local scheduled = Key.scheduled(queue)
  for _, jid in ipairs(call('zrangebyscore', scheduled, '-inf', now, 'limit', 0, room)) do
    local ok, known = pcall(call, 'hmget', Key.job(jid), 'jid', 'priority', 'state', 'queue')
    if not ok then
      Queue.set_aside(queue, jid)
    elseif known[1] and not Queue.is_elsewhere(jid, known[3], known[4], scheduled) then
      Queue.to_work(queue, jid, Check.finite(known[2]) or 0, now)
      call('hset', Key.job(jid), 'state', 'waiting')
    end
    call('zrem', scheduled, jid)
  end
end

-- Whether a job, of which these fields are known, can be had from the set that names it: not when it left that
-- behind, as it must not run twice.
local function is_here(here, jid, fields)
  local state, queue = fields[STATE], fields[QUEUE]
  return (state == 'waiting' and queue and Key.work(queue) == here)
    or not Queue.is_elsewhere(jid, state, queue, here)
end

-- All that the reply of a job is made of, but for what is asked for many jobs at once: see Job.json; nil for an entry
-- without a job to be had. `ends` is when its lock ends, as it is stored, and `expires` as it is shown.
local function read(here, jid)
  local fields = Job.waiting_fields(jid)
  if not fields or not is_here(here, jid, fields) then
    return nil
  end
  local history = false
  if Call.brief then
    call('llen', Key.history(jid)) -- there may be something else
  else
    history = call('lrange', Key.history(jid), '0', '-1')
  end
  return { jid = jid, fields = fields, history = history, ends = '', expires = '', place = '',
    tracked = false, dependents = NONE, dependencies = NONE }
end

-- look(here, jid) -> true and the job, or true and nil as `read`; false for a job that cannot be taken
-- as something else lies under a key of it. Nothing is written of any before all are read, so that one
-- such job costs no other.
local function look(here, jid)
  local ok, job = pcall(read, here, jid)
  if not ok and Job.is_whole(jid) then
    error(job, 0) -- not for this job's sake
  end
  return ok, ok and job or nil
end

-- Adds to each job who waits for it and whom it waits for; answers those of which that can be read.
-- Few jobs have any, so all are asked at once first.
local function add_relatives(jobs)
  local keys = { nil, nil }
  for i, job in ipairs(jobs) do
    keys[2 * i - 1], keys[2 * i] = Key.dependents(job.jid), Key.dependencies(job.jid)
  end
  if call('exists', unpack(keys)) == 0 then
    return jobs, NONE
  end
  local fit, unfit = {}, {}
  for i, job in ipairs(jobs) do
    local ok, dependents = pcall(call, 'smembers', keys[2 * i - 1])
    local also_ok, dependencies = pcall(call, 'smembers', keys[2 * i])
    if ok and also_ok then
      job.dependents, job.dependencies = dependents, dependencies
      fit[#fit + 1] = job
    else
      unfit[#unfit + 1] = job.jid
    end
  end
  return fit, unfit
end

-- What happened to a job, this too, where the reply tells of it.
local function add_event(job, item)
  local jid = job.jid
  local is_whole = History.push(jid, job.fields[HISTORY], item)
  if job.history and is_whole then
    job.history[#job.history + 1] = item
  elseif job.history then
    job.history = History.read(jid, false)
  end
end

-- For how long a job has waited.
local function waited(now, job)
  local since = tonumber(job.fields[TIME])
  return since and since - since == 0 and now - since or 0
end

-- start(pop, job): tells one job that it runs. The reply is made of what was read and what is written
-- here: nothing is read twice.
local function start(pop, job, tracked)
  local jid, fields = job.jid, job.fields
  add_event(job, pop.item)
  local number = #pop.jobs + 1
  pop.waits[number] = waited(pop.now, job)
  if fields[QUEUE] == pop.queue then
    call('hmset', Key.job(jid), 'state', 'running', 'worker', pop.worker, 'expires', job.ends,
      'time', pop.time)
  else
    -- The original's `retry` can put a job into a queue without telling it.
    call('hmset', Key.job(jid), 'state', 'running', 'worker', pop.worker, 'expires', job.ends,
      'time', pop.time, 'queue', pop.queue)
  end
  if tracked then
    Events.job('popped', jid)
    job.tracked = true
  end
  job.place = pop.place
  pop.jobs[number] = Job.json(fields, job)
end

-- take(pop, jobs): gives at most CHUNK jobs that were read to the worker; answers the jids of those that
-- cannot be taken. The locks come first: whatever happens on the way, each job is in a set where it is
-- found.
local function take(pop, jobs)
  if #jobs == 0 then
    return NONE
  end
  local unfit
  jobs, unfit = add_relatives(jobs)
  local scored, jids = { nil, nil }, { nil }
  for i, job in ipairs(jobs) do
    jids[i] = job.jid
    local own = job.fields[HEARTBEAT]
    if own then
      local ends
      job.ends, ends = Config.lock(pop.now, pop.queue, own)
      job.expires = Json.number(ends)
    else
      job.ends, job.expires = pop.ends, pop.expires
    end
    scored[2 * i - 1], scored[2 * i] = job.ends, job.jid
  end
  if #jids > 0 then
    local tracked = pop.alone and NONE or call('zmscore', Key.tracked, unpack(jids))
    call('zadd', Key.worker_jobs(pop.worker), unpack(scored))
    call('zadd', Key.locks(pop.queue), unpack(scored))
    call('zrem', Key.work(pop.queue), unpack(jids))
    for i, job in ipairs(jobs) do
      start(pop, job, tracked[i])
    end
  end
  return unfit
end

-- may_start(pop, job, score) -> whether no limit keeps a job back that stands in work with that score; else
-- it is where it waits, and to be taken out of work.
local function may_start(pop, job, score)
  local now, queue, jid, fields = pop.now, pop.queue, job.jid, job.fields
  if fields[Job.THROTTLES] or pop.gate then
    pop.gate = pop.gate or Throttle.gate(queue)
    if not Throttle.admit(now, pop.gate, jid, tonumber(score), fields) then
      return false
    end
  end
  local at = pop.rates and Limits.start(now, jid, fields)
  if not at then
    return true
  end
  call('zadd', Key.scheduled(queue), at, jid)
  call('hset', Key.job(jid), 'state', 'scheduled')
  Throttle.release(now, jid, fields[Job.THROTTLES], queue, 'waiting')
  Queue.tell_later(queue, at - now)
  return false
end

-- Seconds of any clock: some servers have that of the processor, for the others that of the day goes on during
-- a call.
local function clock()
  local os = rawget(_G, 'os')
  if os and os.clock then
    return os.clock()
  end
  local time = call('time')
  return time[1] + time[2] / 1e6
end

-- goes_on(pop, passed, moved) -> whether a pop that has passed over so many entries is to look at more. When it
-- is not, though that got it further, `Call.unfinished` says so: who waits is to ask again at once.
local function goes_on(pop, passed, moved)
  if passed < MOST_GHOSTS then
    return true
  end
  pop.til = pop.til or clock() + LONGEST_S
  if passed < MOST_PASSED and clock() < pop.til then
    return true
  end
  Call.unfinished = moved > 0
  return false
end

-- added(list, item) -> the list with the item; a list of its own in the place of NONE.
local function added(list, item)
  if list == NONE then
    return { item }
  end
  list[#list + 1] = item
  return list
end

-- Takes up to `room` jobs out of the work set. Entries without a job go; jobs that cannot be taken go
-- behind all others, and stay there.
local function take_work(pop, room)
  local work = Key.work(pop.queue)
  local from, passed, moved = 0, 0, 0
  while room > 0 and not (pop.gate and Throttle.is_full(pop.gate)) and goes_on(pop, passed, moved) do
    local last = from + math.min(room, CHUNK) - 1
    local found = call('zrevrange', work, Json.stored(from), Json.stored(last), 'withscores')
    if #found == 0 then
      return
    end
    local jobs, gone, odd = { nil }, NONE, NONE
    for i = 1, #found, 2 do
      local jid = found[i]
      local ok, job = look(work, jid)
      if job and (not (pop.limited or job.fields[THROTTLES]) or may_start(pop, job, found[i + 1])) then
        jobs[#jobs + 1] = job
      elseif ok then
        gone = added(gone, jid)
      else
        odd = added(odd, jid)
      end
    end
    if #gone > 0 then
      call('zrem', work, unpack(gone))
    end
    local before = #pop.jobs
    for _, jid in ipairs(take(pop, jobs)) do
      odd = added(odd, jid)
    end
    for _, jid in ipairs(odd) do
      if call('zscore', work, jid) == '-inf' then
        from = from + 1
      else
        Queue.set_aside(pop.queue, jid)
        moved = moved + 1
      end
    end
    moved = moved + #gone
    local taken = #pop.jobs - before
    room = room - taken
    passed = passed + #found / 2 - taken
  end
end

-- Takes up to `count` jobs whose lock and grace ran out, from whomever.
local function take_freed(pop, count)
  local freed = Expire.locks(pop.now, pop.queue, count)
  if #freed == 0 then
    return
  end
  local locks = Key.locks(pop.queue)
  local jobs = {}
  for _, jid in ipairs(freed) do
    local _, job = look(locks, jid)
    jobs[#jobs + 1] = job
    if #jobs == CHUNK then
      take(pop, jobs)
      jobs = {}
    end
  end
  take(pop, jobs)
end

-- How many jobs may be taken under the queue's `max-concurrency` and the limits by host, of those asked
-- for.
local function allowed(now, queue, worker, count)
  local most = Config.number(queue .. '-max-concurrency', 0)
  if most > 0 then
    local running = call('zcount', Key.locks(queue), Json.after(now), '+inf')
    count = math.min(count, math.max(floor(most) - running, 0))
  end
  if Config.text('host-max-running') or Config.text('host-max-failures') then
    count = Limits.room(now, worker, count)
  end
  return count
end

-- Takes up to `room` jobs out of what waits, and of what goes there before.
local function take_next(pop, room)
  local now, queue = pop.now, pop.queue
  if not pop.alone then
    if call('exists', Key.throttled(queue), Key.throttle(Key.queue_throttle(queue))) > 0 then
      Throttle.recheck(now, queue, room, true)
      pop.gate = Throttle.gate(queue)
    end
    if call('exists', Key.recur(queue), Key.cron(queue), Key.scheduled(queue)) > 0 then
      Spawn.run(now, queue, room)
      promote(now, queue, room)
    end
  end
  pop.limited = pop.rates or pop.gate
  local before = #pop.jobs
  take_work(pop, room)
  room = room - (#pop.jobs - before)
  if pop.gate and room > 0 and Throttle.recheck(now, queue, room, false) then
    pop.gate = Throttle.gate(queue)
    take_work(pop, room)
  end
end

-- The history item of a job that a worker takes.
local function popped(now, worker)
  return History.item(now, '"popped"', '{"worker":' .. encode(worker) .. '}')
end

-- The pop that is made most: of one job, the first of a queue of which no option is set, where nothing is tracked,
-- scheduled or limited and no lock has run out; the job has no relatives and is limited by nothing itself. What the
-- rest of this file does of it, without what there is none of; nil for any other.
local function pop_plain(now, queue, worker)
  local work, locks = Key.work(queue), Key.locks(queue)
  local jid = call('zrevrange', work, '0', '0')[1]
  if not jid or call('exists', Key.dependents(jid), Key.dependencies(jid)) > 0
    or #call('zrangebyscore', locks, '-inf', Call.now, 'limit', '0', '1') > 0 then
    return nil
  end
  local _, job = look(work, jid)
  local fields = job and job.fields
  if not job or fields[QUEUE] ~= queue or fields[HEARTBEAT] or fields[THROTTLES] then
    return nil
  end
  Worker.seen(worker, now)
  local ends, expires = Config.lock(now, queue)
  call('zadd', Key.worker_jobs(worker), ends, jid)
  call('zadd', locks, ends, jid)
  call('zrem', work, jid)
  add_event(job, popped(now, worker))
  call('hmset', Key.job(jid), 'state', 'running', 'worker', worker, 'expires', ends, 'time', Json.time(now))
  Stats.duration('wait', queue, now, waited(now, job))
  job.expires, job.place = Json.number(expires), Job.place('running', queue, worker)
  return '[' .. Job.json(fields, job) .. ']'
end

-- pop queue worker count -> JSON list of the jobs that are now running with this worker.
-- First those whose lock and grace ran out; then, for what is left of count, owed recurring and due
-- scheduled jobs go to work and all compete by score. At most MOST_JOBS. A paused queue gives none and
-- registers nobody.
-- Publishes: popped, stalled, failed for tracked jobs; lock_lost; failed.
Commands['pop'] = function(now, arg)
  local queue = Check.name(arg[1], 'queue')
  local worker = Check.name(arg[2], 'worker')
  local count = math.min(Check.count(arg[3], 'count'), MOST_JOBS)
  -- With none of these there is nothing to jobs but that they wait.
  local alone = Config.others(Key.paused_queues, Key.tracked, Key.recur(queue), Key.cron(queue),
    Key.scheduled(queue), Key.throttled(queue), Key.throttle(Key.queue_throttle(queue))) == 0
  if not alone and call('sismember', Key.paused_queues, queue) == 1 then
    return '[]'
  end
  local plain = alone and count == 1 and Config.is_unset() and pop_plain(now, queue, worker)
  if plain then
    return plain
  end
  Config.prefetch('heartbeat', queue .. '-heartbeat', queue .. '-max-concurrency', 'grace-period',
    'max-job-history', 'rate-limits', 'host-max-running', 'host-max-failures')
  Worker.seen(worker, now)
  count = allowed(now, queue, worker, count)
  if count == 0 then
    return '[]'
  end
  local ends, expires = Config.lock(now, queue)
  local pop = {
    now = now,
    queue = queue,
    worker = worker,
    alone = alone,
    ends = ends,
    expires = Json.number(expires),
    place = Job.place('running', queue, worker),
    time = Json.time(now),
    item = popped(now, worker),
    jobs = { nil },
    waits = { nil },
    rates = Config.text('rate-limits'),
  }
  take_freed(pop, count)
  local room = count - #pop.jobs
  if room > 0 then
    take_next(pop, room)
  end
  if #pop.jobs > 0 then
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
    [Job.THROTTLES] = child.throttles,
  }, {
    history = { History.item(child.when, '"put"', '{"q":' .. encode(queue) .. '}') },
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
    local ok, stored = pcall(call, 'hget', Key.job(jid), 'priority')
    local priority = ok and Check.finite(stored) or 0
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

-- The JSON of a job that a pop would take out of a set. Of those in the set of locks only the ones that
-- run are taken.
local function shown(now, here, jid, state)
  local ok, fields = pcall(Job.fields, jid)
  if ok and fields and is_here(here, jid, fields) and (fields[STATE] == state or not state) and Job.is_whole(jid) then
    return Job.shown(now, jid, fields)
  end
  return nil
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
      job = shown(now, candidate.here, candidate.jid)
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
  local count = math.min(Check.count(arg[2], 'count'), MOST_JOBS)
  local jobs = {}
  if count == 0 then
    return '[]'
  end
  local locks = Key.locks(queue)
  for _, jid in ipairs(call('zrangebyscore', locks, '-inf', now, 'limit', 0, count)) do
    jobs[#jobs + 1] = shown(now, locks, jid, 'running')
  end
  if #jobs < count then
    add_next(jobs, now, queue, count)
  end
  return Json.join(jobs)
end
