-- Putting right what the audit found. Each repair first looks again, in the same call: where the fault is
-- not there any more, or another one, nothing is done and the reply says so.

-- The failure group of jobs that a repair gives up on.
local GROUP = 'audit'

-- The most completed jobs, or keys, that one call takes away.
local CHUNK = 500

-- Leaves a subject alone, and says why.
local function leave(why)
  error({ left = why })
end

local function fields(jid, ...)
  return call('hmget', Key.job(jid), ...)
end

-- A job whose keys are all of a job's types: only of such a one can all be written.
local function known(jid)
  if not Job.is_whole(jid) then
    leave('something else lies under a key of the job')
  end
  local was = Put.known(jid)
  if not was.jid then
    leave('the job is gone')
  end
  return was
end

-- Takes a job out of the one place where an entry was found.
local function drop(place, name, jid)
  local key = Place.key(place, name)
  if place == 'failed' then
    Failures.remove(name, { jid })
  elseif place == 'dependencies' or place == 'dependents' or place == 'failures' then
    call('srem', key, jid)
  else
    call('zrem', key, jid)
  end
end

-- requeue(now, jid, from) -> what was done. The job goes to work in its queue, or waits there for those
-- that it has to wait for. What is left of its retries stays. A job that was running and may not run
-- twice, having no retries at all, fails instead.
local fail

local function requeue(now, jid, note, queue)
  local was = known(jid)
  queue = was.queue and was.queue ~= '' and was.queue or queue
  if not queue then
    return fail(now, jid, note)
  end
  local retries = Check.finite(was.retries)
  if was.state == 'running' and retries and retries <= 0 then
    return fail(now, jid, note)
  end
  local remaining = Check.finite(fields(jid, 'remaining')[1])
  local listed = was.state == 'failed' and Failures.group(was.failure)
  Put.again(now, was, queue, false)
  call('zrem', Key.completed, jid)
  if listed then
    Failures.remove(listed, { jid })
  end
  if remaining and remaining >= 0 and was.state ~= 'failed' then
    call('hset', Key.job(jid), 'remaining', remaining)
  end
  return 'went back to the queue "' .. queue .. '", ' .. (fields(jid, 'state')[1] or '')
end

-- fail(now, jid, note) -> what was done. The job is among the failures, for somebody to decide.
fail = function(now, jid, note)
  local was = known(jid)
  local queue = was.queue or ''
  local message = 'The audit found this job: ' .. note
  local failure = Failures.make(now, GROUP, message, '')
  Failures.record(now, jid, queue, was.legacy, failure, false)
  if was.state == 'failed' then
    Failures.forget(jid, was.failure, queue)
  end
  Dependencies.forget(jid)
  call('del', Key.dependencies(jid))
  Queue.leave(queue, jid)
  call('zrem', Key.completed, jid)
  local throttles = fields(jid, 'throttles')[1]
  if throttles then
    Throttle.release(now, jid, throttles, queue, was.state)
  end
  if was.worker and was.worker ~= '' then
    call('zrem', Key.worker_jobs(was.worker), jid)
    Events.lock_lost(jid, was.worker)
  end
  Events.failed(jid, failure, '""')
  Events.if_tracked('failed', jid)
  return 'failed, in the group "' .. GROUP .. '"'
end

-- delete(now, jid) -> what was done. As `cancel`, and also for a complete job.
local function delete(now, jid)
  local was = known(jid)
  local other = Dependencies.waiting_for(jid, {}, 1)[1]
  if other then
    leave('the job ' .. other .. ' waits for it')
  end
  if was.state == 'complete' then
    Dependencies.forget(jid)
    Job.destroy(jid, was.tags)
    call('zrem', Key.completed, jid)
    call('zrem', Key.tracked, jid)
  else
    Commands['cancel'](now, { jid })
  end
  return 'deleted'
end

-- A job that waits for others loses one of them; when that was the last one, it goes where it was to go.
local function release(now, jid, other)
  local state = Dependencies.settle(now, jid, other)
  pcall(call, 'srem', Key.dependents(other), jid)
  if not state then
    return 'waits for "' .. other .. '" no more'
  elseif state == 'scheduled' then
    return 'is scheduled in the queue "' .. fields(jid, 'queue')[1] .. '"'
  end
  return 'waits for a worker in the queue "' .. fields(jid, 'queue')[1] .. '"'
end

-- What can be done: kind -> how -> function(now, subject, note) -> what was done.
local Mends = {}

-- The same for a job that the subject names last.
local function of_job(act)
  return function(now, subject, note)
    return act(now, subject[#subject], note)
  end
end

local function drop_entry(_, subject)
  drop(subject[2], subject[3], subject[4])
  return 'taken out'
end

Mends['in-no-place'] = { requeue = of_job(requeue), fail = of_job(fail), delete = of_job(delete) }

Mends['failed-not-listed'] = {
  clean = function(now, subject, note)
    local jid = subject[2]
    local group = Failures.group(known(jid).failure)
    if not group then
      return fail(now, jid, note)
    end
    call('lpush', Key.failed(group), jid)
    call('sadd', Key.failures, group)
    return 'listed in the group "' .. group .. '" again'
  end,
  requeue = of_job(requeue),
  delete = of_job(delete),
}

Mends['complete-not-listed'] = {
  clean = function(now, subject)
    local jid = subject[2]
    known(jid)
    call('zadd', Key.completed, Check.finite(fields(jid, 'time')[1]) or now, jid)
    return 'listed among the completed jobs again'
  end,
  delete = of_job(delete),
}

-- The state of a job by where it is, where that alone makes sense of it.
local STATES = { work = 'waiting', scheduled = 'scheduled', depends = 'depends', throttled = 'throttled' }

local function believe(now, subject, note)
  local place, name, jid = subject[2], subject[3], subject[4]
  if place == 'recur' or place == 'cron' then
    call('hset', place == 'cron' and Key.cron_job(jid) or Key.recurring(jid), 'queue', name)
    return 'recurs in the queue "' .. name .. '"'
  end
  known(jid)
  local state = STATES[place]
  if state then
    call('hmset', Key.job(jid), 'state', state, 'queue', name)
    return 'is ' .. state .. ' in the queue "' .. name .. '"'
  elseif place == 'failed' then
    local failure = fields(jid, 'failure')[1]
    if Failures.group(failure) ~= name then
      failure = Failures.make(now, name, 'The audit found this job: ' .. note, '').json
    end
    call('hmset', Key.job(jid), 'state', 'failed', 'failure', failure, 'worker', '', 'expires', '')
    return 'has failed in the group "' .. name .. '"'
  end
  local done = requeue(now, jid, note, place == 'locks' and name or nil)
  call('zrem', Place.key(place, name), jid) -- locked, or complete: which nobody bears out
  return done
end

local function out_and(act)
  return function(now, subject, note)
    local place, name, jid = subject[2], subject[3], subject[4]
    if place == 'recur' or place == 'cron' then
      leave('a recurring job can be cleaned only')
    end
    known(jid)
    local done = act(now, jid, note)
    local at = fields(jid, 'state', 'queue')
    if Queue.set_of(at[1], at[2]) ~= Place.key(place, name) then
      drop(place, name, jid)
    end
    return done
  end
end

Mends['wrong-place'] = { clean = believe, requeue = out_and(requeue), fail = out_and(fail) }
Mends['in-two-places'] = { clean = drop_entry }
Mends['listed-twice'] = {
  clean = function(_, subject)
    local key, jid = Key.failed(subject[2]), subject[3]
    call('lrem', key, -(#call('lpos', key, jid, 'count', 0) - 1), jid)
    return 'listed once'
  end,
}

-- The lock's own end is right. Where nobody holds it, it is given back.
Mends['wrong-lock'] = {
  clean = function(now, subject, note)
    local jid = subject[2]
    local was = known(jid)
    if not was.worker or was.worker == '' then
      return requeue(now, jid, note)
    end
    local ends = call('zscore', Key.locks(was.queue), jid)
    call('zadd', Key.worker_jobs(was.worker), ends, jid)
    call('hset', Key.job(jid), 'expires', ends)
    return 'its lock ends at ' .. ends
  end,
}

Mends['kept-back-by-none'] = { requeue = of_job(requeue), fail = of_job(fail), delete = of_job(delete) }

Mends['stuck'] = {
  requeue = function(now, subject)
    known(subject[2])
    return release(now, subject[2], '')
  end,
  fail = of_job(fail),
  delete = of_job(delete),
}

local function of_waiting(act)
  return function(now, subject, note)
    return act(now, subject[3], note)
  end
end

Mends['waits-for-gone'] = {
  clean = function(now, subject)
    known(subject[3])
    return release(now, subject[3], subject[4])
  end,
  fail = of_waiting(fail),
  delete = of_waiting(delete),
}

Mends['ring'] = {
  requeue = function(now, subject)
    known(subject[2])
    return release(now, subject[2], subject[3] or subject[2])
  end,
  fail = function(now, subject, note)
    return fail(now, subject[2], note)
  end,
}

Mends['half-edge'] = {
  clean = function(_, subject)
    local place, jid, other = subject[2], subject[3], subject[4]
    if place == 'dependents' then
      call('srem', Key.dependents(jid), other)
      return 'is not said to be waited for any more'
    end
    call('sadd', Key.dependents(other), jid)
    return 'is known to wait for it'
  end,
}

Mends['without-jid'] = {
  clean = function(_, subject)
    call('hset', Key.job(subject[2]), 'jid', subject[2])
    return 'says its own jid'
  end,
}

-- The key of a job of any sort.
local function key_of(what, jid)
  if what == 'recurring' then
    return Key.recurring(jid)
  end
  return what == 'cron_job' and Key.cron_job(jid) or Key.job(jid)
end

Mends['odd-number'] = {
  clean = function(_, subject)
    local what, jid = subject[1], subject[2]
    local key = key_of(what, jid)
    local fixed = {}
    for _, number in ipairs(Values.NUMBERS[what]) do
      local name, default = number[1], number[2]
      local value = call('hget', key, name)
      if value and not Check.finite(value) then
        if name == 'remaining' then
          default = Check.finite(call('hget', key, 'retries')) or default
        end
        call('hset', key, name, default)
        fixed[#fixed + 1] = name .. ' is ' .. default
      end
    end
    return table.concat(fixed, ', ')
  end,
}

Mends['odd-tags'] = {
  clean = function(_, subject)
    local key = Key.job(subject[2])
    local tags = Json.list(Tags.stored(call('hget', key, 'tags')))
    call('hset', key, 'tags', tags)
    return 'its tags are ' .. tags
  end,
}

Mends['odd-data'] = {
  fail = function(now, subject, note)
    if subject[1] ~= 'job' then
      leave('a recurring job cannot fail')
    end
    return fail(now, subject[2], note)
  end,
  delete = function(now, subject)
    if subject[1] ~= 'job' then
      Commands['unrecur'](now, { subject[2] })
      return 'deleted'
    end
    return delete(now, subject[2])
  end,
}
Mends['not-utf8'] = { fail = of_job(fail), delete = of_job(delete) }

Mends['recurring-in-no-place'] = {
  clean = function(now, subject)
    local jid = subject[2]
    if subject[1] == 'cron_job' then
      local queue = call('hget', Key.cron_job(jid), 'queue')
      if not queue or queue == '' then
        leave('it names no queue')
      end
      Cron.wait(jid, queue)
      call('zadd', Key.crons, now, jid) -- whoever comes next plans its runs
      Queue.remember(queue, now)
      return 'recurs in the queue "' .. queue .. '"'
    end
    local job = call('hmget', Key.recurring(jid), 'queue', 'interval')
    local queue, interval = job[1], Check.finite(job[2])
    if not queue or queue == '' then
      leave('it names no queue')
    elseif not interval or interval <= 0 then
      leave('its interval is no number')
    end
    call('zadd', Key.recur(queue), now + interval, jid)
    Queue.remember(queue, now)
    return 'recurs in the queue "' .. queue .. '", next in ' .. interval .. ' s'
  end,
  delete = function(now, subject)
    Commands['unrecur'](now, { subject[2] })
    return 'deleted'
  end,
}

Mends['odd-interval'] = { delete = Mends['recurring-in-no-place'].delete }

for _, kind in ipairs({ 'entry-without-job', 'tracked-without-job', 'not-with-worker',
  'not-with-throttle' }) do
  Mends[kind] = { clean = drop_entry }
end

local function untag(_, subject)
  Tags.unindex(subject[4], { subject[3] })
  return 'taken out'
end

Mends['tag-without-job'] = { clean = untag }
Mends['tag-not-carried'] = { clean = untag }

Mends['tag-not-indexed'] = {
  clean = function(now, subject)
    local jid, tag = subject[2], subject[3]
    call('zadd', Key.tag(tag), now, jid)
    if not call('zscore', Key.tags, tag) then
      call('zadd', Key.tags, call('zcard', Key.tag(tag)), tag)
    end
    return 'the tag lists it'
  end,
}

-- The count is the number of jobs.
local function recount(_, subject)
  local tag = subject[4]
  local carriers = call('zcard', Key.tag(tag))
  if carriers == 0 then
    call('zrem', Key.tags, tag)
    return 'forgotten'
  end
  call('zadd', Key.tags, carriers, tag)
  return 'counts ' .. carriers
end

Mends['tag-count'] = { clean = recount }
Mends['tag-count-differs'] = { clean = recount }

local function remove_key(_, subject)
  call('del', subject[2])
  return 'deleted'
end

Mends['leftover-key'] = { clean = remove_key }
Mends['foreign-type'] = { delete = remove_key }
Mends['old-statistics'] = { clean = remove_key }

Mends['group-not-listed'] = {
  clean = function(_, subject)
    call('sadd', Key.failures, subject[2])
    return 'listed'
  end,
}

Mends['group-empty'] = { clean = drop_entry }

Mends['queue-not-listed'] = {
  clean = function(now, subject)
    Queue.remember(subject[2], now)
    return 'listed'
  end,
}

Mends['old-worker'] = {
  clean = function(now, subject)
    Commands['worker.deregister'](now, { subject[4] })
    return 'forgotten'
  end,
}

Mends['old-completed'] = {
  clean = function(now)
    Prune.completed(now)
    return 'forgotten, as many as one call may; again for more'
  end,
}

-- The repair of a kind, or nil.
local function act_of(kind, how)
  local mends = Mends[kind]
  return mends and mends[how]
end

-- One repair -> JSON of its outcome.
local function mend(now, kind, act, subject)
  local note = Sight.find(now, kind, subject)
  if not note then
    return '{"left":"it is not so any more"}'
  end
  local ok, reply = pcall(act, now, subject, note)
  if ok then
    return '{"done":' .. encode(reply) .. '}'
  elseif type(reply) == 'table' and (reply.left or reply.sentence) then
    return '{"left":' .. encode(reply.left or reply.sentence) .. '}'
  elseif Check.is_foreign(reply) then
    return '{"left":"a key that it needs holds something else"}'
  end
  error(reply, 0)
end

-- audit.repair kind how [subject]... -> JSON list of {"done": text} or {"left": why}, one for each.
-- `how` is clean, requeue, fail or delete, as far as the kind has it; subjects as audit.look takes them.
-- Publishes: as put, fail and cancel, for jobs that go back, fail or go.
Commands['audit.repair'] = function(now, arg)
  local kind = Check.text(arg[1], 'kind')
  local how = Check.text(arg[2], 'how')
  if not Mends[kind] then
    Check.must('kind', 'one that the audit can repair', kind)
  end
  local act = act_of(kind, how)
  if not act then
    Check.must('how', 'a repair that the kind has', how)
  end
  local subjects = {}
  for i, text in ipairs(Check.names(arg, 3, 'subject')) do
    subjects[i] = Sight.subject(text)
    if not subjects[i] then
      Check.must('subject', 'a JSON list that names what to repair', text)
    end
  end
  Check.memory()
  local outcomes = {}
  for i, subject in ipairs(subjects) do
    outcomes[i] = mend(now, kind, act, subject)
  end
  return Json.join(outcomes)
end
