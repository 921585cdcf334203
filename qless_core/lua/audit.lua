-- Looking over the database for what does not fit together. Each look is at one subject, a job, an
-- entry of a set, a key, in one call: so a job on its way is never taken for a lost one. The caller
-- walks (`audit.scan`, `audit.walk`) and gets what was found, and what is left to look at, as a call
-- does little and leaves the rest; `audit.look` looks at single subjects; repair.lua mends them.

-- About how many microseconds one call may spend on looking.
local BUDGET = 1500

-- The most entries of a set that are looked at along with its key.
local FEW = 100

-- The most bytes of data that are read as JSON here; a longer text is for the caller to read.
local LONGEST_DATA = 65536

-- Stands for a name while a key is taken apart.
local MARK = '\1'

-- What a function of keys.lua puts before and behind a name.
local function around(make)
  local text = make(MARK)
  local at = string.find(text, MARK, 1, true)
  return string.sub(text, 1, at - 1), string.sub(text, at + 1)
end

-- The keys that are there once: name -> what it is, and of which type.
local ONCE = {
  [Key.queues] = { 'queues', 'zset' },
  [Key.paused_queues] = { 'paused', 'set' },
  [Key.workers] = { 'workers', 'zset' },
  [Key.tracked] = { 'tracked', 'zset' },
  [Key.completed] = { 'completed', 'zset' },
  [Key.failures] = { 'failures', 'set' },
  [Key.tags] = { 'tags', 'zset' },
  [Key.config] = { 'config', 'hash' },
  [Key.crons] = { 'crons', 'zset' },
  [Key.archive] = { 'archive', 'hash' },
}

-- The keys that are there for each name: what it is, of which type, and how it is spelt.
local NAMED = {}

local function named(place, make, kind)
  local head, tail = around(make)
  NAMED[#NAMED + 1] = { place, kind, head, tail }
end

named('job', Key.job, 'hash')
named('recurring', Key.recurring, 'hash')
named('cron_job', Key.cron_job, 'hash')
named('cron_runs', Key.cron_runs, 'zset')
named('cron', Key.cron, 'zset')
named('work', Key.work, 'zset')
named('locks', Key.locks, 'zset')
named('scheduled', Key.scheduled, 'zset')
named('depends', Key.depends, 'zset')
named('throttled', Key.throttled, 'zset')
named('awaited', Key.awaited, 'zset')
named('wake', Key.wake, 'zset')
named('waited', Key.waited, 'string')
named('lookout', Key.lookout, 'string')
named('shards', Key.shards, 'hash')
named('nudge', Key.nudge, 'zset')
named('once', Key.once, 'string')
named('throttle_locks', Key.throttle_locks, 'zset')
named('throttle_pending', Key.throttle_pending, 'zset')
named('throttle', Key.throttle, 'hash')
named('starts', Key.starts, 'list')
named('host_workers', Key.host_workers, 'zset')
named('host_failures', Key.host_failures, 'zset')
named('recur', Key.recur, 'zset')
named('worker', Key.worker_jobs, 'zset')
named('worker_info', Key.worker_info, 'string')
named('worker_asked', Key.worker_asked, 'string')
named('failed', Key.failed, 'list')
named('tag', Key.tag, 'zset')

-- The sides of a job: the end of the key, and its type.
local SIDES = {}
for _, side in ipairs({ { 'history', 'list' }, { 'dependencies', 'set' }, { 'dependents', 'set' } }) do
  local _, tail = around(Key[side[1]])
  SIDES[#SIDES + 1] = { side[1], side[2], tail }
end

-- parse(key) -> what a key is, the name in it, and the type that belongs there; nil for a key that
-- nobody knows. A job's sides are 'job' here: their names may be jids.
local function parse(key)
  local once = ONCE[key]
  if once then
    return once[1], '', once[2]
  end
  for _, known in ipairs(NAMED) do
    local head, tail = known[3], known[4]
    local least = known[1] == 'failed' and 0 or 1 -- a group may have no name
    if string.sub(key, 1, #head) == head and #key >= #head + #tail + least
      and (tail == '' or string.sub(key, -#tail) == tail) then
      return known[1], string.sub(key, #head + 1, #key - #tail), known[2]
    end
  end
  return nil
end

-- The key of a place: what `parse` says, the other way.
local PLACES = {
  work = Key.work, locks = Key.locks, scheduled = Key.scheduled, depends = Key.depends,
  recur = Key.recur, cron = Key.cron, worker = Key.worker_jobs, failed = Key.failed, tag = Key.tag,
  dependencies = Key.dependencies, dependents = Key.dependents, throttled = Key.throttled,
  throttle_locks = Key.throttle_locks, throttle_pending = Key.throttle_pending,
  completed = function() return Key.completed end,
  tracked = function() return Key.tracked end,
  workers = function() return Key.workers end,
  tags = function() return Key.tags end,
  failures = function() return Key.failures end,
  crons = function() return Key.crons end,
}

-- Audit.place_key(place, name) -> the key; nil for a place that there is none of.
function Audit.place_key(place, name)
  local make = PLACES[place]
  return make and make(name)
end

-- The sets of a queue that hold its jobs, and the states that fit there.
local FITS = {
  work = { waiting = true, stalled = true },
  locks = { running = true },
  scheduled = { scheduled = true },
  depends = { depends = true },
  throttled = { throttled = true },
}
Audit.FITS = FITS

local function type_of(key)
  return call('type', key).ok
end

-- A read of one job's hash; nil when it is not there, or no hash. One that has a class is a job, though
-- it may not say its jid.
local function fields(jid, ...)
  local key = Key.job(jid)
  local ok, known = pcall(call, 'hmget', key, 'jid', ...)
  if ok and (known[1] or call('hexists', key, 'klass') == 1) then
    return known
  end
  return nil
end

local function has(key, jid)
  local ok, score = pcall(call, 'zscore', key, jid)
  return ok and score or false
end

local function has_member(key, jid)
  local ok, found = pcall(call, 'sismember', key, jid)
  return ok and found == 1
end

-- Text for a note.
local function quoted(text)
  return '"' .. Check.short(tostring(text), 200) .. '"'
end

-- Whether a text is UTF-8.
local function is_utf8(text)
  if not string.find(text, '[\128-\255]') then
    return true
  end
  for _, pattern in ipairs({
    '\240[\144-\191][\128-\191][\128-\191]', '[\241-\243][\128-\191][\128-\191][\128-\191]',
    '\244[\128-\143][\128-\191][\128-\191]', '\224[\160-\191][\128-\191]',
    '\237[\128-\159][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
    '[\194-\223][\128-\191]',
  }) do
    text = string.gsub(text, pattern, ' ')
  end
  return not string.find(text, '[\128-\255]')
end

-- Looks: what a subject begins with -> function(see, rest of the subject). `see` has:
--   now; deep: whether this look is to be sure, whatever it takes; add(kind, note, subject...): tells of a fault;
--   later(subject...): leaves something to another call; tell and leave, the same with the subject as a
--   list; cost(microseconds).
local Looks = {}

-- visit(see, subject...): looks now, or later when this call has done enough. A key that holds something
-- else ends a look, but no other: it is told of where it is met itself.
local function visit(see, what, ...)
  if see.spent > BUDGET then
    return see.later(what, ...)
  end
  local ok, problem = pcall(Looks[what], see, ...)
  if not ok and not Check.is_foreign(problem) then
    error(problem, 0)
  end
end

-- As visit, for a list: a ring may be longer than the stack is deep.
local function visit_list(see, subject)
  if subject[1] ~= 'ring' then
    visit(see, unpack(subject))
  elseif see.spent > BUDGET then
    see.leave(subject)
  else
    Looks.ring(see, subject)
  end
end

-- Jobs

-- The numbers of a job, and of a recurring one, and what counts in the place of one that is none.
Audit.NUMBERS = {
  job = { { 'priority', 0 }, { 'retries', 5 }, { 'remaining', 5 } },
  recurring = { { 'priority', 0 }, { 'retries', 0 }, { 'backlog', 0 }, { 'count', 0 } },
}
Audit.NUMBERS.cron_job = Audit.NUMBERS.recurring

local function odd_numbers(see, what, jid, job)
  local odd = {}
  for _, number in ipairs(Audit.NUMBERS[what]) do
    local name = number[1]
    if job[name] and not Check.finite(job[name]) then
      odd[#odd + 1] = name .. ' is ' .. quoted(job[name])
    end
  end
  if #odd > 0 then
    see.add('odd-number', table.concat(odd, ', '), what, jid)
  end
end

local function odd_values(see, jid, job)
  odd_numbers(see, 'job', jid, job)
  local tags = job.tags
  if tags and tags ~= '[]' and tags ~= '{}' then
    local ok, value = Json.read(tags)
    if not ok or not Json.strings(value) then
      see.add('odd-tags', 'its tags are ' .. quoted(tags), 'job', jid)
    end
  end
  local data = job.data
  if data and #data > LONGEST_DATA and not see.deep then
    see.later('data', jid)
  elseif not data or not Json.read(data) then
    see.add('odd-data', data and 'its data is ' .. quoted(data) or 'it has no data', 'job', jid)
  end
  for _, name in ipairs({ 'jid', 'klass', 'queue', 'tags', 'data' }) do
    local text = job[name]
    if text and (see.deep or #text <= LONGEST_DATA) and not is_utf8(text) then
      see.add('not-utf8', 'its ' .. name .. ' has bytes that are no text', 'job', jid)
      break
    end
  end
end

local function look_tags(see, jid, tags)
  for _, tag in ipairs(Tags.stored(tags)) do
    see.cost(1)
    if not has(Key.tag(tag), jid) then
      see.add('tag-not-indexed', 'the tag ' .. quoted(tag) .. ' does not list it', 'tagged', jid, tag)
    end
  end
end

-- Where a job is that is not where it says: the first place of a queue that has it, or nil.
local function place_in(queue, jid)
  for place in pairs(FITS) do
    if has(PLACES[place](queue), jid) then
      return place
    end
  end
  return nil
end

-- Whether any queue has a job, or the completed ones do.
local function is_anywhere(jid)
  if has(Key.completed, jid) then
    return true
  end
  for _, queue in ipairs(call('zrange', Key.queues, 0, -1)) do
    if place_in(queue, jid) then
      return true
    end
  end
  return false
end

-- Audit.is_listed(group, jid) -> whether a failure group lists a job.
function Audit.is_listed(group, jid)
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
  if ok and length > FEW and not see.deep then
    see.later('failed', jid, group)
  elseif not Audit.is_listed(group, jid) then
    see.add('failed-not-listed', 'it failed in the group ' .. quoted(group)
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
    see.add('wrong-lock', 'its lock ends at ' .. ends .. ', but it says ' .. quoted(job.expires or ''),
      'job', jid)
    return
  end
  local worker = job.worker
  if not worker or worker == '' then
    see.add('wrong-lock', 'it runs, with no worker', 'job', jid)
    return
  end
  local held = has(Key.worker_jobs(worker), jid)
  if held and math.abs(tonumber(held) - tonumber(ends)) > 1 then
    see.add('wrong-lock', 'its lock ends at ' .. ends .. ', but its worker\'s set says ' .. held,
      'job', jid)
  elseif not held and tonumber(ends) > see.now and has(Key.workers, worker) then
    see.add('wrong-lock', 'the set of its worker ' .. quoted(worker) .. ' does not list it', 'job', jid)
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
  elseif has_member(Key.dependents(jid), jid) or call('exists', Key.dependents(jid)) == 1 then
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
    if has(Key.throttle_pending(id), jid) then
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
    if not has(Key.completed, jid) then
      see.add('complete-not-listed', 'it is complete, but not among the completed jobs', 'job', jid)
    end
    return
  end
  local home = Queue.set_of(state, queue)
  local score = home and has(home, jid)
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
      see.add('in-no-place', 'it says ' .. quoted(state or '') .. ' in the queue ' .. quoted(queue or '')
        .. ', but no set has it', 'job', jid)
    end
  end
end

local WANTED = { 'jid', 'klass', 'state', 'queue', 'worker', 'priority', 'expires', 'retries',
  'remaining', 'data', 'tags', 'failure', 'grace', 'throttles' }

-- A key under which a job's hash lies, or should.
function Looks.job(see, jid)
  see.cost(8)
  local key = Key.job(jid)
  local ok, values = pcall(call, 'hmget', key, unpack(WANTED))
  if not ok then
    return Looks.foreign(see, key)
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
    see.add('without-jid', 'it says that it is ' .. quoted(job.jid), 'job', jid)
  end
  odd_values(see, jid, job)
  look_tags(see, jid, job.tags)
  look_place(see, jid, job)
end

-- A key of another type than belongs there.
function Looks.foreign(see, key)
  local place, name, wanted = parse(key)
  local kind = type_of(key)
  if not place or kind == 'none' or kind == wanted then
    return
  end
  if place == 'job' then
    for _, side in ipairs(SIDES) do
      if #name > #side[3] and string.sub(name, -#side[3]) == side[3] and kind == side[2] then
        return
      end
    end
  end
  see.add('foreign-type', 'it holds a ' .. kind .. ' where a ' .. wanted .. ' belongs', 'foreign', key)
end

-- The key of a job's history, or of who waits for whom.
local function look_side(see, key, name)
  see.cost(2)
  for _, side in ipairs(SIDES) do
    local what, kind, tail = side[1], side[2], side[3]
    if #name > #tail and string.sub(name, -#tail) == tail then
      if type_of(key) ~= kind then
        return Looks.foreign(see, key)
      end
      local jid = string.sub(name, 1, -#tail - 1)
      if not fields(jid) then
        see.add('leftover-key', 'the job ' .. quoted(jid) .. ' is gone', 'key', key)
      elseif what ~= 'history' then
        Audit.collection(see, what, jid, key, kind)
      end
      return
    end
  end
  Looks.foreign(see, key)
end

-- A key that is there though its job is not: again, for the repair.
function Looks.key(see, key)
  local place, name = parse(key)
  if place == 'job' then
    if type_of(key) == 'hash' then
      Looks.job(see, name)
    else
      look_side(see, key, name)
    end
  elseif place == 'cron_runs' and call('exists', Key.cron_job(name)) == 0 then
    see.add('leftover-key', 'the recurring job ' .. quoted(name) .. ' is gone', 'key', key)
  end
end

-- Entries of the sets

-- An entry of a queue's set of jobs, or of another that only one job at a time can be in.
local function look_placed(see, place, name, jid, fits)
  see.cost(3)
  local job = fields(jid, 'state', 'queue', 'failure')
  if not job then
    if type_of(Key.job(jid)) == 'none' or type_of(Key.job(jid)) == 'hash' then -- else its key tells
      see.add('entry-without-job', 'the job is gone', 'entry', place, name, jid)
    end
    return
  end
  local state, queue = job[2] or '', job[3] or ''
  if fits(state, queue, job[4]) then
    return
  end
  local says = 'it says ' .. quoted(state) .. (queue ~= '' and ' in ' .. quoted(queue) or '')
  local home = queue ~= '' and Queue.set_of(state, queue)
  local is_home = home and has(home, jid)
  -- A failure group is no place where a job waits for anything: one that is nowhere else is lost.
  if is_home or state == 'failed' or state == 'complete' or place == 'failed' then
    see.add('in-two-places', says .. (is_home and ', and is there' or ''), 'entry', place, name, jid)
  else
    see.add('wrong-place', says .. ', but is not there', 'entry', place, name, jid)
  end
end

local Entries = {}

for place, states in pairs(FITS) do
  Entries[place] = function(see, name, jid)
    look_placed(see, place, name, jid, function(state, queue)
      return states[state] and queue == name
    end)
  end
end

function Entries.completed(see, name, jid)
  look_placed(see, 'completed', name, jid, function(state)
    return state == 'complete'
  end)
end

function Entries.failed(see, group, jid)
  look_placed(see, 'failed', group, jid, function(state, _, failure)
    see.cost(#(failure or '') / 500)
    return state == 'failed' and (Failures.group(failure) or group) == group
  end)
end

-- The interval of a recurring job must be a number: the original fails at each pop of the queue else.
function Entries.recur(see, queue, jid)
  see.cost(3)
  local ok, known = pcall(call, 'hmget', Key.recurring(jid), 'jid', 'queue', 'interval')
  if not ok then
    return -- the key tells of it
  elseif not known[1] and not known[2] then
    see.add('entry-without-job', 'the recurring job is gone', 'entry', 'recur', queue, jid)
  elseif known[2] ~= queue then
    local is_home = known[2] and has(Key.recur(known[2]), jid)
    see.add(is_home and 'in-two-places' or 'wrong-place', 'it says that it recurs in '
      .. quoted(known[2] or ''), 'entry', 'recur', queue, jid)
  end
end

function Entries.cron(see, queue, jid)
  see.cost(3)
  local ok, known = pcall(call, 'hmget', Key.cron_job(jid), 'queue')
  if not ok then
    return -- the key tells of it
  elseif not known[1] then
    see.add('entry-without-job', 'the recurring job is gone', 'entry', 'cron', queue, jid)
  elseif known[1] ~= queue then
    see.add(has(Key.cron(known[1]), jid) and 'in-two-places' or 'wrong-place',
      'it says that it recurs in ' .. quoted(known[1]), 'entry', 'cron', queue, jid)
  end
end

function Entries.crons(see, _, jid)
  see.cost(1)
  if call('exists', Key.cron_job(jid)) == 0 then
    see.add('entry-without-job', 'the recurring job is gone', 'entry', 'crons', '', jid)
  end
end

function Entries.worker(see, worker, jid)
  see.cost(2)
  local job = fields(jid, 'state', 'worker')
  if not job then
    see.add('entry-without-job', 'the job is gone', 'entry', 'worker', worker, jid)
  elseif job[2] ~= 'running' or job[3] ~= worker then
    see.add('not-with-worker', 'it says ' .. quoted(job[2] or '') .. ' with ' .. quoted(job[3] or ''),
      'entry', 'worker', worker, jid)
  end
end

local function look_counted(see, place, id, jid, state)
  see.cost(2)
  local job = fields(jid, 'state')
  if not job then
    see.add('entry-without-job', 'the job is gone', 'entry', place, id, jid)
  elseif job[2] ~= state then
    see.add('not-with-throttle', 'it says ' .. quoted(job[2] or ''), 'entry', place, id, jid)
  end
end

function Entries.throttle_locks(see, id, jid)
  look_counted(see, 'throttle_locks', id, jid, 'running')
end

function Entries.throttle_pending(see, id, jid)
  look_counted(see, 'throttle_pending', id, jid, 'throttled')
end

function Entries.tracked(see, _, jid)
  see.cost(2)
  if not fields(jid) then
    see.add('tracked-without-job', 'the job is gone', 'entry', 'tracked', '', jid)
  end
end

function Entries.tag(see, tag, jid)
  see.cost(3)
  local job = fields(jid, 'tags')
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
  see.add('tag-not-carried', 'its tags are ' .. quoted(job[2] or ''), 'entry', 'tag', tag, jid)
end

-- Waits jid for other?
function Entries.dependencies(see, jid, other)
  see.cost(3)
  local job = fields(jid, 'state')
  if not job or job[2] ~= 'depends' then
    return
  end
  local waited = fields(other, 'state')
  if not waited or waited[2] == 'complete' then
    see.add('waits-for-gone', 'it waits for ' .. quoted(other) .. ', which is '
      .. (waited and 'complete' or 'gone'), 'entry', 'dependencies', jid, other)
  elseif not has_member(Key.dependents(other), jid) then
    see.add('half-edge', 'it waits for ' .. quoted(other) .. ', which does not know of it',
      'entry', 'dependencies', jid, other)
  elseif waited[2] == 'failed' then
    see.add('waits-for-failed', 'it waits for ' .. quoted(other) .. ', which has failed',
      'entry', 'dependencies', jid, other)
  end
end

-- Is jid waited for by other?
function Entries.dependents(see, jid, other)
  see.cost(2)
  if not fields(other) or not has_member(Key.dependencies(other), jid) then
    see.add('half-edge', quoted(other) .. ' is said to wait for it, but does not',
      'entry', 'dependents', jid, other)
  end
end

-- The names of failure groups.
function Entries.failures(see, _, group)
  see.cost(1)
  if call('exists', Key.failed(group)) == 0 then
    see.add('group-empty', 'it has no jobs', 'entry', 'failures', '', group)
  end
end

function Entries.workers(see, _, worker)
  see.cost(1)
  local seen = has(Key.workers, worker)
  if seen and tonumber(seen) < see.now - Config.number('max-worker-age') then
    see.add('old-worker', 'it was last seen at ' .. seen, 'entry', 'workers', '', worker)
  end
end

-- A count of uses, against the jobs that carry the tag. Each add and each remove counts, as clients in
-- the field know it: so the two may differ without any fault.
function Entries.tags(see, _, tag)
  see.cost(2)
  local ok, carriers = pcall(call, 'zcard', Key.tag(tag))
  local uses = has(Key.tags, tag)
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

function Looks.entry(see, place, name, member)
  Entries[place](see, name, member)
end

-- Whether a job is on the list of a tag that it carries: again, for the repair.
function Looks.tagged(see, jid)
  local job = fields(jid, 'tags')
  if job then
    look_tags(see, jid, job[2])
  end
end

-- A job that a quick look could not be sure of: it is in no place of its own queue.
function Looks.lost(see, jid)
  local was = see.deep
  see.deep = true
  Looks.job(see, jid)
  see.deep = was
end

-- A failed job that the caller did not see on the list of its group.
Looks.failed = Looks.lost

-- A job that the list of a failure group may have more than once.
function Looks.twice(see, group, jid)
  local ok, places = pcall(call, 'lpos', Key.failed(group), jid, 'count', 2)
  if ok and #places > 1 then
    see.add('listed-twice', 'the group lists it more than once', 'twice', group, jid)
  end
end

-- A ring, each jid waiting for the next and the last one for the first.
function Looks.ring(see, ring)
  see.cost(#ring)
  for i = 2, #ring do
    local jid, other = ring[i], ring[i + 1] or ring[2]
    local job = fields(jid, 'state')
    if not job or job[2] ~= 'depends' or not has_member(Key.dependencies(jid), other) then
      return
    end
  end
  see.tell('ring', #ring == 2 and 'it waits for itself' or 'it waits for itself through '
    .. (#ring - 2) .. ' others', ring)
end

-- Keys that hold many

function Looks.queue(see, queue)
  see.cost(1)
  if not has(Key.queues, queue) then
    for place in pairs(FITS) do
      if call('exists', PLACES[place](queue), Key.recur(queue)) > 0 then
        see.add('queue-not-listed', 'it has jobs, but is not among the queues', 'queue', queue)
        return
      end
    end
  end
end

function Looks.group(see, group)
  see.cost(2)
  if call('exists', Key.failed(group)) == 1 and not has_member(Key.failures, group) then
    see.add('group-not-listed', 'it has jobs, but is not among the groups', 'group', group)
  end
end

-- Figures of a day: they go after `stats-history` days, by the next day's first figure or by their expiry.
function Looks.stats(see, key)
  local prefix = around(function(mark) return Key.stats(mark, 0, '') end)
  local kind, bin = string.match(string.sub(key, #prefix + 1), '^(%a+):(%d+):')
  local days = math.max(floor(Config.number('stats-history')), 0)
  see.cost(1)
  if (kind == 'stats' or kind == 'wait' or kind == 'run')
    and Stats.bin(see.now) - tonumber(bin) > days * 86400 and call('ttl', key) == -1 then
    see.add('old-statistics', 'they are of ' .. bin .. ', older than ' .. days .. ' days', 'stats', key)
  elseif kind ~= 'stats' and kind ~= 'wait' and kind ~= 'run' then
    see.add('unknown-key', 'nobody knows what it is', 'stats', key)
  end
end

local function overdue(now)
  local before = now - Config.number('jobs-history')
  local surplus = call('zcard', Key.completed) - math.max(floor(Config.number('jobs-history-count')), 0)
  return math.max(call('zcount', Key.completed, '-inf', before), surplus)
end

function Looks.completed(see)
  local number = overdue(see.now)
  if number > 0 then
    see.add('old-completed', number .. ' completed jobs are kept longer than the options say',
      'completed')
  end
end

-- Whether any queue has a recurring job in its set of such; but the queue `home`.
local function recurs_elsewhere(set, jid, home)
  for _, other in ipairs(call('zrange', Key.queues, 0, -1)) do
    if other ~= home and has(set(other), jid) then
      return true
    end
  end
  return false
end

-- Looks at a recurring job, of either sort; answers its fields, or nil when it is not there.
local function look_recurring(see, what, key, jid)
  see.cost(5)
  local ok, known = pcall(call, 'hmget', key, 'queue', 'interval', 'data', 'priority', 'retries',
    'backlog', 'count')
  if not ok then
    return Looks.foreign(see, key)
  elseif call('exists', key) == 0 then
    return nil
  end
  odd_numbers(see, what, jid, { priority = known[4], retries = known[5], backlog = known[6],
    count = known[7] })
  if not Json.read(known[3]) then
    see.add('odd-data', 'its data is ' .. quoted(known[3] or ''), what, jid)
  end
  return known
end

function Looks.recurring(see, jid)
  local known = look_recurring(see, 'recurring', Key.recurring(jid), jid)
  if not known then
    return
  end
  local queue, interval = known[1], Check.finite(known[2])
  if not interval or interval <= 0 then
    see.add('odd-interval', 'its interval is ' .. quoted(known[2] or ''), 'recurring', jid)
  end
  if not (queue and has(Key.recur(queue), jid)) and not recurs_elsewhere(Key.recur, jid, queue) then
    see.add('recurring-in-no-place', 'it says that it recurs in ' .. quoted(queue or '')
      .. ', which does not list it', 'recurring', jid)
  end
end

function Looks.cron_job(see, jid)
  local known = look_recurring(see, 'cron_job', Key.cron_job(jid), jid)
  if not known then
    return
  end
  local queue = known[1]
  if not (queue and has(Key.cron(queue), jid) and has(Key.crons, jid))
    and not recurs_elsewhere(Key.cron, jid, queue) then
    see.add('recurring-in-no-place', 'it says that it recurs in ' .. quoted(queue or '')
      .. ', which does not list it', 'cron_job', jid)
  end
end

-- Audit.collection(see, place, name, key, kind): what is in it; if that is much, the caller walks it.
function Audit.collection(see, place, name, key, kind)
  local counting = { zset = 'zcard', set = 'scard', list = 'llen' }
  local reading = { zset = 'zrange', list = 'lrange' }
  local count = call(counting[kind], key)
  if count > FEW or see.spent > BUDGET then
    return see.later('walk', place, name)
  end
  local members = reading[kind] and call(reading[kind], key, 0, -1) or call('smembers', key)
  see.cost(2 + #members / 5)
  local met = {}
  for _, member in ipairs(members) do
    if met[member] then
      visit(see, 'twice', name, member)
    else
      met[member] = true
      visit(see, 'entry', place, name, member)
    end
  end
end

-- The runs planned for a job that recurs by cron expression.
local function look_runs(see, key, jid)
  see.cost(2)
  if type_of(key) ~= 'zset' then
    Looks.foreign(see, key)
  elseif call('exists', Key.cron_job(jid)) == 0 then
    see.add('leftover-key', 'the recurring job ' .. quoted(jid) .. ' is gone', 'key', key)
  end
end

local QUEUE_SETS = { work = true, locks = true, scheduled = true, depends = true, throttled = true,
  recur = true, cron = true }

-- One key that a scan met.
local function look_key(see, key)
  see.cost(1)
  local place, name, wanted = parse(key)
  if not place then
    local prefix = around(function(mark) return Key.stats(mark, 0, '') end)
    if string.sub(key, 1, #prefix) == prefix then
      return Looks.stats(see, key)
    elseif not Audit.is_ours(key) then
      see.add('unknown-key', 'nobody knows what it is', 'unknown', key)
    end
    return
  end
  if place == 'job' then
    local kind = Check.stem(name) and type_of(key) or 'hash'
    if kind == 'hash' then
      Looks.job(see, name)
    else
      look_side(see, key, name)
    end
    return
  elseif place == 'recurring' or place == 'cron_job' then
    return Looks[place](see, name)
  elseif place == 'cron_runs' then
    return look_runs(see, key, name)
  end
  see.cost(1)
  if type_of(key) ~= wanted then
    return Looks.foreign(see, key)
  end
  if QUEUE_SETS[place] then
    Looks.queue(see, name)
  elseif place == 'failed' then
    Looks.group(see, name)
  elseif place == 'tag' then
    Entries.tags(see, '', name)
  elseif place == 'completed' then
    Looks.completed(see)
  end
  if Entries[place] then
    Audit.collection(see, place, name, key, wanted)
  end
end

function Looks.scanned(see, key)
  look_key(see, key)
end

-- Audit.is_ours(key) -> whether the console keeps it.
function Audit.is_ours(key)
  local own = Key.event('web:')
  return string.sub(key, 1, #own) == own
end

-- What one call sees: the findings and the rest, for the reply.
local function sight(now, deep)
  local see = { now = now, deep = deep, spent = 0, found = {}, left = {}, links = {} }
  function see.tell(kind, note, subject)
    see.spent = see.spent + 3
    see.found[#see.found + 1] = { kind = kind, note = note, subject = subject }
  end
  function see.add(kind, note, ...)
    see.tell(kind, note, { ... })
  end
  function see.leave(subject)
    see.left[#see.left + 1] = Json.list(subject)
  end
  function see.later(...)
    see.leave({ ... })
  end
  function see.cost(microseconds)
    see.spent = see.spent + microseconds
  end
  return see
end

-- The reply, without its beginning.
local function told(see)
  local found, links = {}, {}
  for i, each in ipairs(see.found) do
    found[i] = '{"kind":' .. encode(each.kind) .. ',"note":' .. encode(each.note)
      .. ',"subject":' .. Json.list(each.subject) .. '}'
  end
  for i, jid in ipairs(see.links) do
    links[i] = encode(jid) .. ':' .. Json.list(call('smembers', Key.dependencies(jid)))
  end
  return '"found":' .. Json.join(found) .. ',"left":' .. Json.join(see.left)
    .. ',"links":{' .. table.concat(links, ',') .. '}}'
end

-- Audit.find(now, kind, subject) -> the note of this fault, if that is still there; nil otherwise.
function Audit.find(now, kind, subject)
  local see = sight(now, true)
  visit_list(see, subject)
  local wanted = Json.list(subject)
  for _, each in ipairs(see.found) do
    if each.kind == kind and Json.list(each.subject) == wanted then
      return each.note
    end
  end
  return nil
end

-- Audit.subject(text) -> the list that names a subject; nil for what is none.
function Audit.subject(text)
  local ok, value = Json.read(text)
  local subject = ok and Json.strings(value)
  if not subject or not Looks[subject[1] or ''] or (subject[1] == 'entry' and
    (#subject ~= 4 or not Entries[subject[2]])) or (#subject < 2 and subject[1] ~= 'completed') then
    return nil
  end
  return subject
end

-- What a pattern of SCAN must not read as its own.
local function literal(text)
  return (string.gsub(text, '[%*%?%[%]\\]', '\\%0'))
end

-- cursor_of(text) -> the cursor, for Redis to read.
local function cursor_of(text)
  if not text or #text > 20 or not string.match(text, '^%d+$') then
    Check.must('cursor', 'a cursor of this walk, or 0', text)
  end
  return text
end

local function count_of(text)
  local count = Check.count(text, 'count')
  if count < 1 then
    Check.must('count', 'a whole number from 1 up', text)
  end
  return count
end

-- audit.scan cursor count -> JSON {"cursor", "keys", "found": [{kind, note, subject}], "left": [subject],
-- "links": {jid: [jid]}}. Looks at the keys of one step of SCAN; a cursor of 0 begins, and 0 in the
-- reply ends. `left` is what there was no time for, or
-- no way to be sure of: for audit.look or, where it begins with `walk`, for
-- audit.walk, or with `data` or `failed`, for the caller to see whether the data is JSON, or the group
-- lists the job. `links` has jobs that wait and are waited for: rings are the caller's to find. Reads only.
Commands['audit.scan'] = function(now, arg)
  local cursor = cursor_of(arg[1])
  local count = count_of(arg[2])
  local see = sight(now, false)
  local reply = call('scan', cursor, 'match', literal(Key.namespace) .. '*', 'count', count)
  for _, key in ipairs(reply[2]) do
    visit(see, 'scanned', key)
  end
  return '{"cursor":' .. encode(reply[1]) .. ',"keys":' .. #reply[2] .. ',' .. told(see)
end

-- audit.walk place name cursor count -> JSON as audit.scan: the entries of one set or list.
-- Reads only.
Commands['audit.walk'] = function(now, arg)
  local place = Check.text(arg[1], 'place')
  local name = Check.text(arg[2], 'name')
  local cursor = cursor_of(arg[3])
  local count = count_of(arg[4])
  local key = Entries[place] and Audit.place_key(place, name)
  if not key then
    Check.must('place', 'a place that holds many', place)
  end
  local see = sight(now, false)
  local kind = type_of(key)
  local members, after = {}, '0'
  if kind == 'list' then
    members = call('lrange', key, cursor, tonumber(cursor) + count - 1)
    if #members == count then
      after = string.format('%.0f', tonumber(cursor) + count)
    end
  elseif kind == 'zset' then
    local reply = call('zscan', key, cursor, 'count', count)
    after = reply[1]
    for i = 1, #reply[2], 2 do
      members[#members + 1] = reply[2][i]
    end
  elseif kind == 'set' then
    local reply = call('sscan', key, cursor, 'count', count)
    after, members = reply[1], reply[2]
  end
  for _, member in ipairs(members) do
    visit(see, 'entry', place, name, member)
  end
  return '{"cursor":' .. encode(after) .. ',"keys":' .. #members .. ',' .. told(see)
end

-- audit.look [subject]... -> JSON as audit.scan. Each subject is a JSON list, as audit.scan leaves them.
-- Reads only.
Commands['audit.look'] = function(now, arg)
  local subjects = {}
  for i, text in ipairs(Check.names(arg, 1, 'subject')) do
    subjects[i] = Audit.subject(text)
    if not subjects[i] then
      Check.must('subject', 'a JSON list that names what to look at', text)
    end
  end
  local see = sight(now, false)
  for _, subject in ipairs(subjects) do
    visit_list(see, subject)
  end
  return '{"cursor":"0","keys":' .. #subjects .. ',' .. told(see)
end
