-- Looks at the entries of sets and lists: whether what they name is there, and belongs there.

-- Which set or list -> the look at an entry of it, a function(see, name of the set, entry).
local Looks = {}

-- An entry of a queue's set of jobs, or of another that only one job at a time can be in.
local function look_placed(see, place, name, jid, fits)
  see.cost(3)
  local job = Stored.fields(jid, 'state', 'queue', 'failure')
  if not job then
    if Stored.type_of(Key.job(jid)) == 'none' or Stored.type_of(Key.job(jid)) == 'hash' then -- else its key tells
      see.add('entry-without-job', 'the job is gone', 'entry', place, name, jid)
    end
    return
  end
  local state, queue = job[2] or '', job[3] or ''
  if fits(state, queue, job[4]) then
    return
  end
  local says = 'it says ' .. Sight.quoted(state) .. (queue ~= '' and ' in ' .. Sight.quoted(queue) or '')
  local home = queue ~= '' and Queue.set_of(state, queue)
  local is_home = home and Stored.has(home, jid)
  -- A failure group is no place where a job waits for anything: one that is nowhere else is lost.
  if is_home or state == 'failed' or state == 'complete' or place == 'failed' then
    see.add('in-two-places', says .. (is_home and ', and is there' or ''), 'entry', place, name, jid)
  else
    see.add('wrong-place', says .. ', but is not there', 'entry', place, name, jid)
  end
end

for place, states in pairs(Place.FITS) do
  Looks[place] = function(see, name, jid)
    look_placed(see, place, name, jid, function(state, queue)
      return states[state] and queue == name
    end)
  end
end

function Looks.completed(see, name, jid)
  look_placed(see, 'completed', name, jid, function(state)
    return state == 'complete'
  end)
end

function Looks.failed(see, group, jid)
  look_placed(see, 'failed', group, jid, function(state, _, failure)
    see.cost(#(failure or '') / 500)
    return state == 'failed' and (Failures.group(failure) or group) == group
  end)
end

-- The interval of a recurring job must be a number: the original fails at each pop of the queue else.
function Looks.recur(see, queue, jid)
  see.cost(3)
  local ok, known = pcall(call, 'hmget', Key.recurring(jid), 'jid', 'queue', 'interval')
  if not ok then
    return -- the key tells of it
  elseif not known[1] and not known[2] then
    see.add('entry-without-job', 'the recurring job is gone', 'entry', 'recur', queue, jid)
  elseif known[2] ~= queue then
    local is_home = known[2] and Stored.has(Key.recur(known[2]), jid)
    see.add(is_home and 'in-two-places' or 'wrong-place', 'it says that it recurs in '
      .. Sight.quoted(known[2] or ''), 'entry', 'recur', queue, jid)
  end
end

function Looks.cron(see, queue, jid)
  see.cost(3)
  local ok, known = pcall(call, 'hmget', Key.cron_job(jid), 'queue')
  if not ok then
    return -- the key tells of it
  elseif not known[1] then
    see.add('entry-without-job', 'the recurring job is gone', 'entry', 'cron', queue, jid)
  elseif known[1] ~= queue then
    see.add(Stored.has(Key.cron(known[1]), jid) and 'in-two-places' or 'wrong-place',
      'it says that it recurs in ' .. Sight.quoted(known[1]), 'entry', 'cron', queue, jid)
  end
end

function Looks.crons(see, _, jid)
  see.cost(1)
  if call('exists', Key.cron_job(jid)) == 0 then
    see.add('entry-without-job', 'the recurring job is gone', 'entry', 'crons', '', jid)
  end
end

function Looks.worker(see, worker, jid)
  see.cost(2)
  local job = Stored.fields(jid, 'state', 'worker')
  if not job then
    see.add('entry-without-job', 'the job is gone', 'entry', 'worker', worker, jid)
  elseif job[2] ~= 'running' or job[3] ~= worker then
    see.add('not-with-worker', 'it says ' .. Sight.quoted(job[2] or '') .. ' with ' .. Sight.quoted(job[3] or ''),
      'entry', 'worker', worker, jid)
  end
end

local function look_counted(see, place, id, jid, state)
  see.cost(2)
  local job = Stored.fields(jid, 'state')
  if not job then
    see.add('entry-without-job', 'the job is gone', 'entry', place, id, jid)
  elseif job[2] ~= state then
    see.add('not-with-throttle', 'it says ' .. Sight.quoted(job[2] or ''), 'entry', place, id, jid)
  end
end

function Looks.throttle_locks(see, id, jid)
  look_counted(see, 'throttle_locks', id, jid, 'running')
end

function Looks.throttle_pending(see, id, jid)
  look_counted(see, 'throttle_pending', id, jid, 'throttled')
end

function Looks.tracked(see, _, jid)
  see.cost(2)
  if not Stored.fields(jid) then
    see.add('tracked-without-job', 'the job is gone', 'entry', 'tracked', '', jid)
  end
end

function Looks.tag(see, tag, jid)
  see.cost(3)
  local job = Stored.fields(jid, 'tags')
  if not job then
    see.add('tag-without-job', 'the job is gone', 'entry', 'tag', tag, jid)
    return
  end
  -- Most texts tell it without being read as a whole.
  local at = job[2] and string.find(job[2], encode(tag), 1, true)
  local before = at and string.byte(job[2], at - 1)
  if before == 91 or before == 44 then -- [ or ,
    return
  end
  for _, carried in ipairs(Tags.stored(job[2])) do
    if carried == tag then
      return
    end
  end
  see.add('tag-not-carried', 'its tags are ' .. Sight.quoted(job[2] or ''), 'entry', 'tag', tag, jid)
end

-- Waits jid for other?
function Looks.dependencies(see, jid, other)
  see.cost(3)
  local job = Stored.fields(jid, 'state')
  if not job or job[2] ~= 'depends' then
    return
  end
  local waited = Stored.fields(other, 'state')
  if not waited or waited[2] == 'complete' then
    see.add('waits-for-gone', 'it waits for ' .. Sight.quoted(other) .. ', which is '
      .. (waited and 'complete' or 'gone'), 'entry', 'dependencies', jid, other)
  elseif not Stored.has_member(Key.dependents(other), jid) then
    see.add('half-edge', 'it waits for ' .. Sight.quoted(other) .. ', which does not know of it',
      'entry', 'dependencies', jid, other)
  elseif waited[2] == 'failed' then
    see.add('waits-for-failed', 'it waits for ' .. Sight.quoted(other) .. ', which has failed',
      'entry', 'dependencies', jid, other)
  end
end

-- Is jid waited for by other?
function Looks.dependents(see, jid, other)
  see.cost(2)
  if not Stored.fields(other) or not Stored.has_member(Key.dependencies(other), jid) then
    see.add('half-edge', Sight.quoted(other) .. ' is said to wait for it, but does not',
      'entry', 'dependents', jid, other)
  end
end

-- The names of failure groups.
function Looks.failures(see, _, group)
  see.cost(1)
  if call('exists', Key.failed(group)) == 0 then
    see.add('group-empty', 'it has no jobs', 'entry', 'failures', '', group)
  end
end

function Looks.workers(see, _, worker)
  see.cost(1)
  local seen = Stored.has(Key.workers, worker)
  if seen and tonumber(seen) < see.now - Config.number('max-worker-age') then
    see.add('old-worker', 'it was last seen at ' .. seen, 'entry', 'workers', '', worker)
  end
end

-- A count of uses, against the jobs that carry the tag. Each add and each remove counts, as clients in
-- the field know it: so the two may differ without any fault.
function Looks.tags(see, _, tag)
  see.cost(2)
  local ok, carriers = pcall(call, 'zcard', Key.tag(tag))
  local uses = Stored.has(Key.tags, tag)
  if not ok then
    return
  end
  local count = uses and tonumber(uses)
  local note = 'it counts ' .. (uses or 'nothing') .. ', and ' .. carriers .. ' jobs carry it'
  if (carriers == 0) ~= (not count) or (count and count < 1) then
    see.add('tag-count', note, 'entry', 'tags', '', tag)
  elseif count and count ~= carriers then
    see.add('tag-count-differs', note, 'entry', 'tags', '', tag)
  end
end

-- Entries.has(place) -> whether entries of it are looked at.
function Entries.has(place)
  return Looks[place] ~= nil
end

function Entries.entry(see, place, name, member)
  Looks[place](see, name, member)
end

-- A job that the list of a failure group may have more than once.
function Entries.twice(see, group, jid)
  local ok, places = pcall(call, 'lpos', Key.failed(group), jid, 'count', 2)
  if ok and #places > 1 then
    see.add('listed-twice', 'the group lists it more than once', 'twice', group, jid)
  end
end

-- Entries.all(see, place, name, key, kind): what is in it; if that is much, the caller walks it.
function Entries.all(see, place, name, key, kind)
  local counting = { zset = 'zcard', set = 'scard', list = 'llen' }
  local reading = { zset = 'zrange', list = 'lrange' }
  local count = call(counting[kind], key)
  if count > Sight.FEW or Sight.is_spent(see) then
    return see.later('walk', place, name)
  end
  local members = reading[kind] and call(reading[kind], key, 0, -1) or call('smembers', key)
  see.cost(2 + #members / 5)
  local met = {}
  for _, member in ipairs(members) do
    if met[member] then
      Sight.visit(see, 'twice', name, member)
    else
      met[member] = true
      Sight.visit(see, 'entry', place, name, member)
    end
  end
end
