-- Putting a job into a queue: a new one, or one that is anywhere already.

-- What is known of a job that is new, and an empty list; nobody writes to them.
local NEW, NONE = {}, {}

-- Put.known(jid) -> what is stored of a job that decides how it is put again: a table of texts, with
-- false for what is not there; {} when there is no such job. Not its data: that is the user's.
function Put.known(jid)
  local known = call('hmget', Key.job(jid), 'jid', 'state', 'queue', 'worker', 'priority', 'tags',
    'retries', 'failure', 'history', 'throttles')
  if not known[1] then
    return {}
  end
  return {
    jid = known[1], state = known[2], queue = known[3], worker = known[4], priority = known[5],
    tags = known[6], retries = known[7], failure = known[8], legacy = known[9],
    throttles = known[10],
  }
end

-- Leaves the place where the job was, now that it has entered another set, the key `entered`: sets, worker,
-- completed, the statistic of failed jobs, and the list of its group unless the caller takes it off.
local function leave(jid, was, listed, entered)
  if was.state == 'failed' then
    Failures.forget(jid, was.failure, was.queue, listed)
  elseif was.queue and was.queue ~= '' then
    Queue.leave(was.queue, jid, entered)
    if was.state == 'throttled' and Key.throttled(was.queue) ~= entered then
      Throttle.leave(was.queue, jid)
    end
  end
  if was.worker and was.worker ~= '' then
    call('zrem', Key.worker_jobs(was.worker), jid)
  end
  if was.state == 'complete' then
    call('zrem', Key.completed, jid)
  end
end

-- Writes the throttles of a job that comes into a queue, and answers whether one keeps it back, where it
-- could go to work.
local function is_kept_back(now, jid, was, to, could_work)
  local ids = to.throttles or Throttle.ids(was.throttles)
  local text = Throttle.moved(ids, was.queue, to.queue)
  call('hset', Key.job(jid), 'throttles', text)
  return could_work and Throttle.enter(now, to.queue, jid, to.priority, Throttle.ids(text))
end

-- Put.place(now, jid, was, to): puts a job where it belongs, from wherever it is, and tells of it. It
-- refuses nothing: `was` is what Put.known found, and what `to` says has been checked:
--   queue; priority, retries, delay: numbers; me: who puts; fields: names and values to write, too;
--   throttles: what it runs under, a list; nil: as it is;
--   depends: jids to wait for, in the place of those that it waited for; nil: as it is;
--   listed: whether it stays on the list of its failure group, for the caller to take off.
function Put.place(now, jid, was, to)
  local queue, delay = to.queue, to.delay
  local key = Key.job(jid)
  local name = encode(queue)
  local effective = to.depends and Dependencies.effective(to.depends)
  History.push(jid, was.legacy, History.item(now, '"put"', '{"q":' .. name .. '}'))
  if effective then
    Dependencies.replace(jid, to.depends, effective)
  end
  local waits = (was.jid or to.depends) and call('exists', Key.dependencies(jid)) == 1
  if was.throttles then
    Throttle.release(now, jid, was.throttles) -- what it held is free, for itself too
  end
  local state = 'throttled'
  if not (to.throttles or was.throttles)
    or not is_kept_back(now, jid, was, to, not waits and delay <= 0) then
    state = Queue.enter(now, queue, jid, to.priority, delay, waits)
  end
  call('hmset', key, 'state', state, 'worker', '', 'expires', '0', 'queue', queue,
    'remaining', Json.stored(to.retries), 'time', Json.time(now), unpack(to.fields))
  if waits then
    Dependencies.remember(jid, delay > 0 and now + delay)
  end
  Queue.remember(queue, now)
  if was.jid then
    leave(jid, was, to.listed, Queue.set_of(state, queue))
  end

  Events.put(jid, name)
  if was.worker and was.worker ~= '' and was.worker ~= to.me then
    Events.lock_lost(jid, was.worker)
  end
  Events.if_tracked('put', jid)
end

-- Put.again(now, was, queue, forgets): a job goes back to work as it is, with its retries renewed. Of
-- its data, tags and priority nothing is touched. `forgets` is whether its failure is forgotten; the
-- caller takes it off the list of its group.
function Put.again(now, was, queue, forgets)
  Put.place(now, was.jid, was, {
    queue = queue,
    priority = Check.finite(was.priority) or 0,
    retries = Check.finite(was.retries) or 5,
    delay = 0,
    me = '',
    fields = forgets and { 'failure', '{}' } or {},
    listed = true,
  })
end

-- Put.refuse_taken(jid, exists, others): refuses a jid whose keys are, or would be, those of another job; of one
-- that is stored, or that the set `others` has.
function Put.refuse_taken(jid, exists, others)
  local stem = not exists and Check.stem(jid)
  if not Job.is_whole(jid) or (stem and (others[stem] or call('exists', Key.job(stem)) == 1)) then
    Check.refuse('BAD_ARGUMENT', 'argument "jid" must be a name whose keys are no other job\'s, got "'
      .. jid .. '"', 2)
  end
end

-- For how many seconds the job is to be locked, whatever its queue says; 0: as the queue says.
local function lock_of(value)
  local seconds = Check.number(value, 'heartbeat')
  if seconds < 0 then
    Check.must('heartbeat', 'a number from 0 up', value)
  end
  return seconds
end

-- Put.read(arg) -> what the arguments of a put say, checked; nothing is read or written but what
-- Check.name looks at.
function Put.read(arg)
  local options = Check.options(arg, 7)
  return {
    me = Check.text(arg[1], 'me'),
    queue = Check.name(arg[2], 'queue'),
    jid = Check.name(arg[3], 'jid'),
    klass = Check.text(arg[4], 'klass'),
    data = Check.json(arg[5], 'data'),
    delay = Check.number(arg[6], 'delay'),
    priority = options.priority and Check.number(options.priority, 'priority'),
    retries = options.retries and Check.retries(options.retries),
    tags = options.tags and Tags.distinct(Check.tags(options.tags)),
    depends = options.depends and Check.jids(options.depends, 'depends') or NONE,
    throttles = options.throttles and Throttle.given(options.throttles),
    at = options.at and Check.number(options.at, 'at'),
    strict = options.strict and Check.count(options.strict, 'strict') > 0,
    heartbeat = options.heartbeat and lock_of(options.heartbeat),
  }
end

-- Put.write(now, job, must_exist): puts what Put.read read. Refuses what depends on what is stored,
-- before anything is written.
function Put.write(now, job, must_exist)
  local jid, depends = job.jid, job.depends
  local was, old_tags = NEW, NONE
  if must_exist or not Job.new_keys(jid) then
    was = Put.known(jid)
    if must_exist and not was.jid then
      Check.missing(jid)
    end
    Put.refuse_taken(jid, was.jid, NONE)
    old_tags = Tags.stored(was.tags)
  end
  if #depends > 0 then
    Dependencies.refuse_ring(jid, depends)
    if job.strict then
      Dependencies.refuse_missing(jid, depends)
    end
  end

  local priority = job.priority or Check.finite(was.priority) or 0
  local retries = job.retries or Check.finite(was.retries) or 5
  local tags = job.tags or old_tags
  if #tags > 0 or #old_tags > 0 then
    Tags.replace(now, jid, old_tags, tags)
  end
  local fields = { 'jid', jid, 'klass', job.klass, 'data', job.data, 'priority',
    Json.stored(priority), 'retries', Json.stored(retries), 'tags', Json.list(tags) }
  if job.heartbeat then
    fields[#fields + 1] = 'heartbeat'
    fields[#fields + 1] = Json.stored(job.heartbeat)
  end
  Put.place(now, jid, was, {
    queue = job.queue,
    priority = priority,
    retries = retries,
    delay = job.at and job.at - now or job.delay,
    me = job.me,
    depends = #depends > 0 and depends or nil,
    throttles = job.throttles and (#job.throttles > 0 or was.throttles) and job.throttles or nil,
    fields = fields,
  })
  return jid
end

-- The put that is made most: no options, no delay, and a jid that is new. What Put.write does of it,
-- without what there is none of; answers false for any other.
local function put_plain(now, arg)
  local queue, jid, klass, data = arg[2], arg[3], arg[4], arg[5]
  local delay = Check.number(arg[6], 'delay')
  if delay > 0 then
    return false
  end
  local key, history = Job.new_keys(jid)
  if not key then
    return false
  end
  local name = encode(queue)
  Queue.to_work(queue, jid, 0, now)
  call('rpush', history, '[' .. Json.second(now) .. ',"put",{"q":' .. name .. '}]')
  call('hmset', key, 'state', 'waiting', 'worker', '', 'expires', '0', 'queue', queue,
    'remaining', '5', 'time', Json.time(now), 'jid', jid, 'klass', klass, 'data', data,
    'priority', '0', 'retries', '5', 'tags', '[]')
  Queue.remember(queue, now)
  Events.put(jid, name)
  Events.if_tracked('put', jid)
  return true
end

-- put me queue jid klass data delay
--   [priority p, tags json, retries n, depends json, throttles json, heartbeat n]...
-- -> jid. `data` is stored as it is. `heartbeat` (ours) is for how many seconds it is locked, 0: as its
-- queue says. A job that exists keeps its priority, tags, retries, throttles and heartbeat where none is
-- given, and its dependencies unless a list replaces them; it leaves wherever it was, and an owner
-- other than `me` is told. Dependencies that do not exist or are complete are skipped.
-- Options of ours, too: `at`, the moment before which it does not run, in the place of `delay`; `strict` 1
-- refuses dependencies that do not exist.
-- Refuses: BAD_ARGUMENT, also for a dependency on itself or in a ring; NO_DEPENDENCY.
-- Publishes: put, lock_lost; put for a tracked job.
Commands['put'] = function(now, arg)
  if #arg == 6 then
    Check.name(arg[2], 'queue')
    Check.name(arg[3], 'jid')
    Check.json(arg[5], 'data')
    if put_plain(now, arg) then
      return arg[3]
    end
  end
  return Put.write(now, Put.read(arg), false)
end

-- The states of jobs that nothing will run, unless somebody says so.
local ENDED = { failed = true, complete = true }

-- put.new: as put, but a job that is there, and runs or will run, is left as it is -> 1 when it was put, 0 when
-- it was left.
Commands['put.new'] = function(now, arg)
  local job = Put.read(arg)
  local known = call('hmget', Key.job(job.jid), 'jid', 'state')
  if known[1] and not ENDED[known[2]] then
    return 0
  end
  Put.write(now, job, false)
  return 1
end

-- requeue: as put. Refuses: JOB_NOT_FOUND too.
Commands['requeue'] = function(now, arg)
  return Put.write(now, Put.read(arg), true)
end
