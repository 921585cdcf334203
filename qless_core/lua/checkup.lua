-- Looks at one job: whether what it says of itself bears out, and whether it is where it says.

local function look_tags(see, jid, tags)
  for _, tag in ipairs(Tags.stored(tags)) do
    see.cost(1)
    if not Stored.has(Key.tag(tag), jid) then
      see.add('tag-not-indexed', 'the tag ' .. Sight.quoted(tag) .. ' does not list it', 'tagged', jid, tag)
    end
  end
end

-- Where a job is that is not where it says: the first place of a queue that has it, or nil.
local function place_in(queue, jid)
  for place in pairs(Place.FITS) do
    if Stored.has(Place.key(place, queue), jid) then
      return place
    end
  end
  return nil
end

-- Whether any queue has a job, or the completed ones do.
local function is_anywhere(jid)
  if Stored.has(Key.completed, jid) then
    return true
  end
  for _, queue in ipairs(call('zrange', Key.queues, 0, -1)) do
    if place_in(queue, jid) then
      return true
    end
  end
  return false
end

-- Whether a failure group lists a job.
local function is_listed(group, jid)
  local ok, at = pcall(call, 'lpos', Key.failed(group), jid)
  return ok and at and true or false
end

-- A failed job: on the list of its group? A long list is walked by the caller, who then knows.
local function look_failed(see, jid, job)
  local group = Failures.group(job.failure)
  see.cost(#(job.failure or '') / 500)
  if not group then
    see.add('failed-not-listed', 'it failed, but names no group', 'job', jid)
    return
  end
  local ok, length = pcall(call, 'llen', Key.failed(group))
  if ok and length > Sight.FEW and not see.deep then
    see.later('failed', jid, group)
  elseif not is_listed(group, jid) then
    see.add('failed-not-listed', 'it failed in the group ' .. Sight.quoted(group)
      .. ', which does not list it', 'job', jid)
  end
end

-- A running job: what the lock, the job and the worker's set say of its end. During its grace the lock
-- is another one, and the worker has it no more.
local function look_lock(see, jid, job, ends)
  if Check.finite(job.grace) == 1 then
    return
  end
  local expires = Check.finite(job.expires)
  if not expires or math.abs(expires - tonumber(ends)) > 1 then
    see.add('wrong-lock', 'its lock ends at ' .. ends .. ', but it says ' .. Sight.quoted(job.expires or ''),
      'job', jid)
    return
  end
  local worker = job.worker
  if not worker or worker == '' then
    see.add('wrong-lock', 'it runs, with no worker', 'job', jid)
    return
  end
  local held = Stored.has(Key.worker_jobs(worker), jid)
  if held and math.abs(tonumber(held) - tonumber(ends)) > 1 then
    see.add('wrong-lock', 'its lock ends at ' .. ends .. ', but its worker\'s set says ' .. held,
      'job', jid)
  elseif not held and tonumber(ends) > see.now and Stored.has(Key.workers, worker) then
    see.add('wrong-lock', 'the set of its worker ' .. Sight.quoted(worker) .. ' does not list it', 'job', jid)
  end
end

-- A job that waits for others: is there anybody to wait for? Each edge is looked at with the set.
local function look_depends(see, jid)
  local key = Key.dependencies(jid)
  local ok, count = pcall(call, 'scard', key)
  if not ok then
    return
  elseif count == 0 then
    see.add('stuck', 'it waits for others, but names none', 'job', jid)
  elseif Stored.has_member(Key.dependents(jid), jid) or call('exists', Key.dependents(jid)) == 1 then
    see.links[#see.links + 1] = jid
  end
end

-- A job that is kept back: does any of its throttles have it in line? One that was let go goes to work
-- with the next pop.
local function look_throttled(see, jid, job, score)
  if tonumber(score) == -math.huge then
    return
  end
  for _, id in ipairs(Throttle.ids(job.throttles)) do
    see.cost(1)
    if Stored.has(Key.throttle_pending(id), jid) then
      return
    end
  end
  see.add('kept-back-by-none', 'no throttle has it in line', 'job', jid)
end

local function look_place(see, jid, job)
  local state, queue = job.state, job.queue
  if state == 'failed' then
    return look_failed(see, jid, job)
  elseif state == 'complete' then
    if not Stored.has(Key.completed, jid) then
      see.add('complete-not-listed', 'it is complete, but not among the completed jobs', 'job', jid)
    end
    return
  end
  local home = Queue.set_of(state, queue)
  local score = home and Stored.has(home, jid)
  if score then
    if state == 'running' then
      look_lock(see, jid, job, score)
    elseif state == 'depends' then
      look_depends(see, jid)
    elseif state == 'throttled' then
      look_throttled(see, jid, job, score)
    end
    return
  end
  if queue and place_in(queue, jid) then
    return -- the set tells of it
  end
  if not see.deep then
    see.later('lost', jid)
  else
    see.cost(call('zcard', Key.queues) * 2)
    if not is_anywhere(jid) then
      see.add('in-no-place', 'it says ' .. Sight.quoted(state or '') .. ' in the queue ' .. Sight.quoted(queue or '')
        .. ', but no set has it', 'job', jid)
    end
  end
end

local WANTED = { 'jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires', 'retries',
  'remaining', 'data', 'tags', 'failure', 'grace', 'throttles' }

-- A key under which a job's hash lies, or should.
function Checkup.job(see, jid)
  see.cost(8)
  local key = Key.job(jid)
  local ok, values = pcall(call, 'hmget', key, unpack(WANTED))
  if not ok then
    return Scan.foreign(see, key)
  end
  local job = {}
  for i, name in ipairs(WANTED) do
    job[name] = values[i]
  end
  see.cost(#(job.data or '') / 300)
  if not job.jid then
    if call('exists', key) == 0 then
      return
    elseif job.klass then
      see.add('without-jid', 'it does not say its own jid', 'job', jid)
    else
      see.add('leftover-key', 'a job wrote it that is gone', 'key', key)
      return
    end
  elseif job.jid ~= jid then
    see.add('without-jid', 'it says that it is ' .. Sight.quoted(job.jid), 'job', jid)
  end
  Values.look(see, jid, job)
  look_tags(see, jid, job.tags)
  look_place(see, jid, job)
end

-- Whether a job is on the list of a tag that it carries: again, for the repair.
function Checkup.tagged(see, jid)
  local job = Stored.fields(jid, 'tags')
  if job then
    look_tags(see, jid, job[2])
  end
end

-- A job that a quick look could not be sure of: it is in no place of its own queue.
function Checkup.lost(see, jid)
  local was = see.deep
  see.deep = true
  Checkup.job(see, jid)
  see.deep = was
end

-- A failed job that the caller did not see on the list of its group.
Checkup.failed = Checkup.lost

-- A ring, each jid waiting for the next and the last one for the first.
function Checkup.ring(see, ring)
  see.cost(#ring)
  for i = 2, #ring do
    local jid, other = ring[i], ring[i + 1] or ring[2]
    local job = Stored.fields(jid, 'state')
    if not job or job[2] ~= 'depends' or not Stored.has_member(Key.dependencies(jid), other) then
      return
    end
  end
  see.tell('ring', #ring == 2 and 'it waits for itself' or 'it waits for itself through '
    .. (#ring - 2) .. ' others', ring)
end
