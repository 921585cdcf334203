-- A job with all that it has, to be brought back after it was removed: by the trash of the console, or on
-- another shard.

-- What is stored of a job, with each field of it in `fields`, as one that is removed needs it; nil, and why there is
-- nothing to act on.
function Whole.known(jid)
  local ok, found = pcall(call, 'hgetall', Key.job(jid))
  if not ok then
    return nil, 'unreadable'
  end
  -- With a place for each field that most have: a table that grows is made anew each time.
  local was = { fields = found, jid = false, klass = false, state = false, queue = false, worker = false,
    priority = false, expires = false, retries = false, remaining = false, data = false, tags = false,
    failure = false, throttles = false, time = false, history = false, spawned_from_jid = false }
  for i = 1, #found, 2 do
    was[found[i]] = found[i + 1]
  end
  was.fields = found -- whatever a job may have of that name
  if not was.jid then
    return nil, 'gone'
  end
  return was
end

-- The key of the sorted set that a job is in; nil for one that failed, or is in none.
function Whole.place(was)
  if was.state == 'complete' then
    return Key.completed
  end
  return Queue.set_of(was.state, was.queue)
end

function Whole.score(key, jid)
  return key and call('zscore', key, jid) or ''
end

-- All that a job has: each field, its history, who waits for whom, where it stands in which set.
function Whole.of(jid, was)
  local all = { what = 'job', fields = was.fields,
    history = call('lrange', Key.history(jid), 0, -1), dependencies = {}, dependents = {},
    score = Whole.score(Whole.place(was), jid), tracked = Whole.score(Key.tracked, jid),
    tags = {}, throttles = {} }
  if call('exists', Key.dependencies(jid), Key.dependents(jid)) > 0 then
    all.dependencies = call('smembers', Key.dependencies(jid))
    all.dependents = call('smembers', Key.dependents(jid))
  end
  for _, tag in ipairs(Tags.stored(was.tags)) do
    local ok, score = pcall(call, 'zscore', Key.tag(tag), jid)
    all.tags[#all.tags + 1] = tag
    all.tags[#all.tags + 1] = ok and score or ''
  end
  if was.worker and was.worker ~= '' then
    all.held = Whole.score(Key.worker_jobs(was.worker), jid)
  end
  for _, id in ipairs(was.throttles and Throttle.ids(was.throttles) or {}) do
    for _, key in ipairs({ Key.throttle_locks(id), Key.throttle_pending(id) }) do
      local ok, score = pcall(call, 'zscore', key, jid)
      if ok and score then
        table.insert(all.throttles, { key = key, score = score, id = id,
          awaited = was.state == 'throttled' and call('zscore', Key.awaited(was.queue), id) or '' })
      end
    end
  end
  return all
end

local function count_failed_again(queue, failure)
  if type(failure.when) == 'number' and queue ~= '' then
    pcall(call, 'hincrby', Key.stats('stats', Stats.bin(failure.when), queue), 'failed', 1)
  end
end

-- Into the group that a stored failure names, as its oldest job; nil where it names none.
function Whole.fail_again(jid, queue, text)
  local failure = Json.object(text)
  if type(failure.group) ~= 'string' then
    return nil
  end
  call('rpush', Key.failed(failure.group), jid)
  call('sadd', Key.failures, failure.group)
  count_failed_again(queue, failure)
  return failure
end

local function tell_failed(jid, failure)
  local worker = type(failure.worker) == 'string' and failure.worker or ''
  Events.failed(jid, { message = encode(tostring(failure.message or '')),
    group = encode(failure.group) }, encode(worker))
end

-- Into the set where a job stood, at its old place; answers the key, or nil where it failed or is nowhere.
function Whole.stand(now, jid, was)
  if was.state == 'failed' then
    return nil
  end
  local key = Whole.place(was)
  if key then
    call('zadd', key, was.score ~= '' and was.score or now, jid)
    if was.queue ~= '' then
      Queue.tell(was.queue)
    end
  end
  return key
end

function Whole.tell(jid, state, queue, failure)
  if state == 'failed' and failure then
    tell_failed(jid, failure)
  elseif queue ~= '' then
    Events.put(jid, encode(queue))
  end
end

local function link_again(jid, all)
  for _, other in ipairs(all.dependents) do
    call('sadd', Key.dependents(jid), other)
  end
  local waited = Dependencies.effective(all.dependencies)
  Dependencies.link(jid, waited)
  return #waited
end

local function tag_again(now, jid, tags)
  for i = 1, #tags, 2 do
    if pcall(call, 'zadd', Key.tag(tags[i]), tags[i + 1] ~= '' and tags[i + 1] or now, jid) then
      call('zincrby', Key.tags, 1, tags[i])
    end
  end
end

-- Texts that one command is given at most; an even number, as fields come in pairs.
local AT_ONCE = 1000

local function push_all(command, key, texts)
  for i = 1, #texts, AT_ONCE do
    call(command, key, unpack(texts, i, math.min(i + AT_ONCE - 1, #texts)))
  end
end

-- Brings a job back that was removed, with all that it had; answers why not, where it is not.
function Whole.back(now, jid, all)
  if not Job.is_whole(jid) then
    return 'unreadable'
  elseif not Job.new_keys(jid) then
    return 'exists'
  end
  local was = { score = all.score }
  for i = 1, #all.fields, 2 do
    was[all.fields[i]] = all.fields[i + 1]
  end
  was.queue = was.queue or ''
  push_all('rpush', Key.history(jid), all.history)
  push_all('hset', Key.job(jid), all.fields)
  local waits = link_again(jid, all)
  if was.state == 'depends' and waits == 0 then -- nothing is left to wait for
    was.state, was.score = 'waiting', Queue.score(Check.finite(was.priority) or 0, now)
    call('hset', Key.job(jid), 'state', 'waiting')
  end
  Whole.stand(now, jid, was)
  local failure = was.state == 'failed' and Whole.fail_again(jid, was.queue, was.failure)
  tag_again(now, jid, all.tags)
  if all.tracked ~= '' then
    call('zadd', Key.tracked, all.tracked, jid)
  end
  if all.held and all.held ~= '' then
    call('zadd', Key.worker_jobs(was.worker), all.held, jid)
  end
  for _, place in ipairs(all.throttles) do
    pcall(call, 'zadd', place.key, place.score, jid)
    if place.awaited ~= '' then
      call('zadd', Key.awaited(was.queue), 'NX', place.awaited, place.id)
    end
  end
  if was.queue ~= '' then
    Queue.remember(was.queue, now)
  end
  Whole.tell(jid, was.state, was.queue, failure)
  return nil
end
