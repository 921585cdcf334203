-- One job: read it, print it, end it. And `get`, `multiget`, `priority`.

-- The fields of the hash that a job's JSON is made of, in the order of the HMGETs that read them. The last two
-- are written anew when a job begins to run.
local FIELDS = {
  'jid', 'klass', 'state', 'queue', 'priority', 'retries', 'remaining', 'data', 'tags', 'failure',
  'spawned_from_jid', 'history', 'throttles', 'time', 'heartbeat', 'worker', 'expires',
}

-- Where they are in the reply.
local JID, KLASS, STATE, QUEUE, PRIORITY, RETRIES, REMAINING, DATA, TAGS, FAILURE =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local PARENT, HISTORY, THROTTLES, TIME, HEARTBEAT, WORKER, EXPIRES = 11, 12, 13, 14, 15, 16, 17

Job.JID, Job.KLASS, Job.STATE, Job.QUEUE, Job.WORKER = JID, KLASS, STATE, QUEUE, WORKER
Job.PRIORITY, Job.EXPIRES, Job.RETRIES, Job.REMAINING = PRIORITY, EXPIRES, RETRIES, REMAINING
Job.DATA, Job.TAGS, Job.PARENT, Job.HISTORY = DATA, TAGS, PARENT, HISTORY
Job.TIME, Job.HEARTBEAT, Job.THROTTLES = TIME, HEARTBEAT, THROTTLES

-- Job.fields(jid) -> the fields, or nil when there is no such job. A hash without its `jid` is what
-- a stray write left of a job that is gone: no job.
function Job.fields(jid)
  local fields = call('hmget', Key.job(jid), unpack(FIELDS))
  if fields[JID] then
    return fields
  end
  return nil
end

-- Job.waiting_fields(jid) -> the same, but for the worker and the end of the lock.
function Job.waiting_fields(jid)
  local fields = call('hmget', Key.job(jid), unpack(FIELDS, 1, HEARTBEAT))
  if fields[JID] then
    return fields
  end
  return nil
end

local function probe(jid)
  call('hexists', Key.job(jid), 'jid')
  call('llen', Key.history(jid))
  call('scard', Key.dependencies(jid))
  call('scard', Key.dependents(jid))
end

-- Job.new_keys(jid) -> the keys of its hash and of its history, where nothing at all is known of it and its key would
-- be no part of another job; else nil.
function Job.new_keys(jid)
  local key, history = Key.job(jid), Key.history(jid)
  if Check.stem(jid) or call('exists', key, history, Key.dependencies(jid), Key.dependents(jid)) > 0 then
    return nil
  end
  return key, history
end

-- Job.is_whole(jid) -> whether each key of a job, where it is there, is of a job's type. One may hold
-- another job: `a-history` is a name as good as `a`.
function Job.is_whole(jid)
  local ok = pcall(probe, jid)
  return ok
end

-- A part of a job to show; none where something else lies under its key.
local function part(read, ...)
  local ok, items = pcall(read, ...)
  return ok and items or {}
end

-- Small whole numbers, as most are, once each: stored text -> text for the reply.
local KNOWN = {}

-- A stored number for the reply; what is no number is 0.
local function number(value)
  local text = KNOWN[value]
  if not text then
    text = Json.number(Check.finite(value) or 0)
    if value == text and #text < 3 then
      KNOWN[value] = text
    end
  end
  return text
end

-- A stored JSON list of strings for the reply.
local function tag_list(text)
  if not text or text == '[]' or text == '{}' then
    return '[]'
  end
  return Json.list(Tags.stored(text))
end

-- A stored JSON object for the reply, as it is when it is one; as cjson writes it when only cjson could
-- read it.
local function failure_object(text)
  if not text or text == '' or text == '{}' then
    return '{}'
  end
  local ok, value = Json.read(text)
  if not ok or type(value) ~= 'table' or not string.match(text, '^%s*{') then
    return '{}'
  elseif Json.is_strict(text) then
    return text
  end
  local can, written = pcall(encode, value)
  return can and written or '{}'
end

-- Job.place(state, queue, worker) -> these as a part of the JSON of a job.
function Job.place(state, queue, worker)
  return ',"state":' .. encode(state) .. ',"queue":' .. encode(queue) .. ',"worker":' .. encode(worker)
end

-- Job.json(fields, links) -> the job as JSON. `links` has history (items, or false), tracked (boolean),
-- dependents and dependencies (lists); and maybe what is the same for many: place (as Job.place makes it)
-- and expires (as text), in the stead of what the fields say.
function Job.json(fields, links)
  local place = links.place
    or Job.place(fields[STATE] or '', fields[QUEUE] or '', fields[WORKER] or '')
  local throttles = ''
  if fields[THROTTLES] then
    local ids = Tags.stored(fields[THROTTLES])
    if #ids > 0 then
      throttles = ',"throttles":' .. Json.list(ids)
    end
  end
  return '{"jid":' .. encode(fields[JID])
    .. ',"klass":' .. encode(fields[KLASS] or '')
    .. place
    .. ',"tracked":' .. (links.tracked and 'true' or 'false')
    .. ',"priority":' .. number(fields[PRIORITY])
    .. ',"expires":' .. (links.expires or number(fields[EXPIRES]))
    .. ',"retries":' .. number(fields[RETRIES])
    .. ',"remaining":' .. number(fields[REMAINING])
    .. ',"data":' .. encode(fields[DATA] or '{}')
    .. ',"tags":' .. tag_list(fields[TAGS])
    .. (links.history and ',"history":' .. History.render(links.history) or '')
    .. ',"failure":' .. failure_object(fields[FAILURE])
    .. ',"spawned_from_jid":' .. (fields[PARENT] and encode(fields[PARENT]) or 'false')
    .. ',"dependents":' .. (#links.dependents == 0 and '[]' or encode(links.dependents))
    .. ',"dependencies":' .. (#links.dependencies == 0 and '[]' or encode(links.dependencies))
    .. throttles .. '}'
end

-- Job.seen_state(now, jid, state, queue) -> the stored state as a pop would find it: what is due waits,
-- and a lock that ran out has stalled. The scores decide; where a running job has no lock, its own
-- word does.
function Job.seen_state(now, jid, state, queue)
  if state == 'scheduled' and queue then
    local due = call('zscore', Key.scheduled(queue), jid)
    if due and tonumber(due) <= now then
      return 'waiting'
    end
  elseif state == 'running' then
    local ends = queue and call('zscore', Key.locks(queue), jid) or call('hget', Key.job(jid), 'expires')
    if (Check.finite(ends) or math.huge) <= now then
      return 'stalled'
    end
  end
  return state
end

-- Job.shown(now, jid, fields) -> the JSON of a job whose fields were read.
function Job.shown(now, jid, fields)
  if fields[STATE] ~= 'running' then -- clients of the field tell by the lock's end, not by a word
    fields[STATE] = Job.seen_state(now, jid, fields[STATE], fields[QUEUE])
  end
  return Job.json(fields, {
    history = part(History.read, jid, fields[HISTORY]),
    tracked = call('zscore', Key.tracked, jid),
    dependents = part(call, 'smembers', Key.dependents(jid)),
    dependencies = part(call, 'smembers', Key.dependencies(jid)),
  })
end

-- Job.read(now, jid) -> the job as JSON, or nil. Reads only: what is due shows as waiting, though
-- only a pop moves it.
function Job.read(now, jid)
  local ok, fields = pcall(Job.fields, jid)
  return ok and fields and Job.shown(now, jid, fields) or nil
end

-- Job.destroy(jid, tags): takes every key of a job away. `tags` is the job's stored field. A hash under
-- a side key is another job: it stays.
function Job.destroy(jid, tags)
  Tags.unindex(jid, Tags.stored(tags))
  local keys = { Key.job(jid) }
  local sides = { Key.history(jid) }
  if call('exists', Key.dependencies(jid), Key.dependents(jid)) > 0 then
    sides[2], sides[3] = Key.dependencies(jid), Key.dependents(jid)
  end
  for _, key in ipairs(sides) do
    if call('type', key).ok ~= 'hash' then
      keys[#keys + 1] = key
    end
  end
  call('del', unpack(keys))
end

-- get jid -> JSON job, or nil. Reads only.
Commands['get'] = function(now, arg)
  return Job.read(now, Check.name(arg[1], 'jid'))
end

-- multiget jid... -> JSON list of those that exist. Reads only.
Commands['multiget'] = function(now, arg)
  local jobs = {}
  for _, jid in ipairs(Check.names(arg, 1, 'jid')) do
    jobs[#jobs + 1] = Job.read(now, jid)
  end
  return Json.join(jobs)
end

-- The largest whole number that a reply tells as it is.
local LARGEST = 2 ^ 53

-- priority jid p -> p as an integer, at most LARGEST. In any state; the job keeps its place among equals: the time
-- within its score stays. A job timed out by hand stays ahead of all.
-- Refuses: JOB_NOT_FOUND.
Commands['priority'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local priority = Check.number(arg[2], 'priority')
  local known = call('hmget', Key.job(jid), 'jid', 'queue', 'priority', 'time', 'state', 'throttles')
  if not known[1] then
    Check.missing(jid)
  end
  call('hset', Key.job(jid), 'priority', priority)
  local queue = known[2]
  if known[5] == 'throttled' and queue then
    Throttle.rescore(jid, known[6], queue, Check.finite(known[3]) or 0, priority)
  end
  local score = queue and queue ~= '' and Check.finite(call('zscore', Key.work(queue), jid))
  if score then
    local old = Check.finite(known[3]) or 0
    local since = Queue.since(score, old, Check.finite(known[4]))
    call('zadd', Key.work(queue), Queue.score(priority, since), jid)
  end
  return math.max(math.min(priority, LARGEST), -LARGEST)
end
