-- Putting a job into a queue: a new one, or one that is anywhere already.

-- What leaves the place where the job is now: sets, worker, completed, failure group.
local function leave_old_place(jid, known)
  local state, queue, worker = known.state, known.queue, known.worker
  if queue and queue ~= '' then
    Queue.leave(queue, jid)
  end
  if worker and worker ~= '' then
    call('zrem', Key.worker_jobs(worker), jid)
  end
  if state == 'complete' then
    call('zrem', Key.completed, jid)
  elseif state == 'failed' then
    Failures.forget(jid, known.failure, queue)
  end
end

-- Puts the job where it belongs now; answers its state.
local function place(now, jid, queue, priority, delay, waits)
  if waits then
    call('zadd', Key.depends(queue), now, jid)
    return 'depends'
  elseif delay > 0 then
    call('zadd', Key.scheduled(queue), now + delay, jid)
    return 'scheduled'
  end
  call('zadd', Key.work(queue), Queue.score(priority, now), jid)
  return 'waiting'
end

local function put(now, arg, must_exist)
  local me = Check.text(arg[1], 'me')
  local queue = Check.name(arg[2], 'queue')
  local jid = Check.name(arg[3], 'jid')
  local klass = Check.text(arg[4], 'klass')
  local data = Check.json(arg[5], 'data')
  local delay = Check.number(arg[6], 'delay')
  local options = Check.options(arg, 7)
  local priority = options.priority and Check.number(options.priority, 'priority')
  local retries = options.retries and Check.whole(options.retries, 'retries')
  local tags = options.tags and Tags.given(options.tags, 'tags')
  local depends = options.depends and Check.strings(options.depends, 'depends') or {}

  local key = Key.job(jid)
  local old = call('hmget', key, 'jid', 'state', 'queue', 'worker', 'priority', 'tags', 'retries',
    'failure', 'history')
  local exists = old[1]
  if must_exist and not exists then
    Check.missing(jid)
  end
  if #depends > 0 then
    Dependencies.refuse_ring(jid, depends)
  end

  local old_tags = exists and Tags.stored(old[6]) or {}
  priority = priority or Check.finite(old[5]) or 0
  retries = retries or Check.finite(old[7]) or 5
  tags = tags or old_tags

  History.push(jid, old[9], History.item(now, 'put', '{"q":' .. encode(queue) .. '}'))
  if #depends > 0 then
    Dependencies.replace(jid, depends)
  end
  local waits = (exists or #depends > 0) and call('exists', Key.dependencies(jid)) == 1

  local owner = old[4]
  if exists then
    leave_old_place(jid, { state = old[2], queue = old[3], worker = owner, failure = old[8] })
  end
  if #tags > 0 or #old_tags > 0 then
    Tags.replace(now, jid, old_tags, tags)
  end
  local state = place(now, jid, queue, priority, delay, waits)
  call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority,
    'tags', Json.list(tags), 'state', state, 'worker', '', 'expires', 0, 'queue', queue,
    'retries', retries, 'remaining', retries, 'time', Json.time(now))
  if waits and delay > 0 then
    call('hset', key, 'scheduled', now + delay)
  end
  Queue.remember(queue, now)

  Events.put(jid, queue)
  if exists and owner and owner ~= '' and owner ~= me then
    Events.lock_lost(jid, owner)
  end
  Events.if_tracked('put', jid)
  return jid
end

-- put me queue jid klass data delay [priority p, tags json, retries n, depends json]... -> jid.
-- `data` is stored as it is. A job that exists keeps its priority, tags and retries where none is
-- given, and its dependencies unless a list replaces them; it leaves wherever it was, and an owner
-- other than `me` is told. Dependencies that do not exist or are complete are skipped.
-- Refuses: BAD_ARGUMENT, also for a dependency on itself or in a ring.
-- Publishes: put, lock_lost; put for a tracked job.
Commands['put'] = function(now, arg)
  return put(now, arg, false)
end

-- requeue: as put. Refuses: JOB_NOT_FOUND too.
Commands['requeue'] = function(now, arg)
  return put(now, arg, true)
end
