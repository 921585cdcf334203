-- Throttles: named limits of how many jobs run at once, over any jobs. A job names its own in `throttles`;
-- a queue may have one, over all its jobs. Stored as the sibling dialect stores them, so that its
-- clients and ours keep the same count.
--
-- A job that runs is in the locks of each of its throttles. One that a full throttle keeps back is in the
-- pending ones of that throttle and in its queue's throttled set, state `throttled`; it goes to work when
-- there is room, and is looked at again by the pop that would take it.

-- The most jobs that one call lets in, and the most entries that it passes over on the way.
local MOST = 1000

-- How many throttles that jobs of a queue wait for one pop looks at, the longest not looked at first.
local LOOKS = 5

-- How many locks of a full throttle are looked at for jobs that do not run any more.
local STALE_LOOKS = 3

-- Where jobs stand in line that are ahead of all: those timed out by hand.
local FRONT = -1e300

-- A command of Redis that may find something else under the key: its reply, or nil.
local function try(...)
  local ok, reply = pcall(call, ...)
  if ok then
    return reply
  end
  return nil
end

-- The ends of a throttle's other keys: a throttle with such a name would have the key of one.
local function is_part(id)
  return string.sub(id, -6) == '-locks' or string.sub(id, -8) == '-pending'
end

-- Those of the names that a throttle can have, each once.
local function fit(names)
  local ids, met = {}, {}
  for _, id in ipairs(names) do
    if id ~= '' and not met[id] and not is_part(id) then
      met[id] = true
      ids[#ids + 1] = id
    end
  end
  return ids
end

-- Throttle.ids(stored) -> the throttles that a job's field names, each once.
function Throttle.ids(stored)
  return fit(Tags.stored(stored))
end

-- must_fit(id, name) -> the id; refuses what no throttle can be called.
local function must_fit(id, name)
  if id == '' or is_part(id) then
    Check.must(name, 'a name that does not end in -locks or -pending', id)
  end
  return id
end

-- Throttle.given(text) -> list, of an option `throttles` of put or recur, each once.
function Throttle.given(text)
  local names = Check.strings(text, 'throttles')
  for _, name in ipairs(names) do
    must_fit(name, 'throttles')
  end
  return fit(names)
end

-- Throttle.moved(ids, from, to) -> text to store of a job that comes from one queue into another: that
-- queue's own throttle in the place of the other's. '[]' where it has no throttle but a queue's.
function Throttle.moved(ids, from, to)
  local old = from and from ~= '' and Key.queue_throttle(from)
  local own = Key.queue_throttle(to)
  local kept = {}
  for _, id in ipairs(ids) do
    if id ~= old and id ~= own then
      kept[#kept + 1] = id
    end
  end
  if #kept > 0 then
    kept[#kept + 1] = not is_part(own) and own or nil
  end
  return Json.list(kept)
end

-- The most jobs that may run under a throttle; what is no number from 1 up is no limit.
local function maximum(id)
  local most = floor(Check.finite(try('hget', Key.throttle(id), 'maximum')) or 0)
  return most > 0 and most or math.huge
end

-- Takes jobs that do not run out of the locks of a full throttle: clients without throttles finish jobs
-- and know nothing of them. Answers how many.
local function drop_stale(id)
  local dropped = 0
  local key = Key.throttle_locks(id)
  for _, jid in ipairs(try('zrange', key, 0, STALE_LOOKS - 1) or {}) do
    if try('hget', Key.job(jid), 'state') ~= 'running' then
      dropped = dropped + call('zrem', key, jid)
    end
  end
  return dropped
end

-- How many more jobs may run under a throttle.
local function room_of(id)
  local most = maximum(id)
  if most == math.huge then
    return most
  end
  local room = most - (try('zcard', Key.throttle_locks(id)) or 0)
  if room <= 0 then
    room = room + drop_stale(id)
  end
  return room
end

-- Where a job stands in the line of a throttle: the lowest is next. By priority, then by the moment since
-- when it waits; of priority 0 it is the moment, as the sibling has it of all.
local function in_line(priority, when)
  return when - priority * 1e10
end

-- pend(now, id, queue, job) -> whether the throttle keeps the job back: it does unless something else lies
-- under its key. `job` has jid, priority, when (in line since) and maybe throttles, to be stored.
-- Takes it out of no other set.
local function pend(now, id, queue, job)
  local jid = job.jid
  local score = math.max(in_line(job.priority, job.when), FRONT)
  if not try('zadd', Key.throttle_pending(id), score, jid) then
    return false
  end
  call('zadd', Key.throttled(queue), score, jid)
  call('zadd', Key.awaited(queue), 'NX', now, id)
  if job.throttles then
    call('hmset', Key.job(jid), 'state', 'throttled', 'throttles', job.throttles)
  else
    call('hset', Key.job(jid), 'state', 'throttled')
  end
  -- Once for each time that it waits, however often it is turned away.
  local last = call('lindex', Key.history(jid), -1)
  if not last or not string.find(last, ',"throttled"', 1, true) then
    History.push(jid, job.legacy, History.item(now, '"throttled"', '{"queue":' .. encode(queue) .. '}'))
  end
  return true
end

-- Throttle.leave(queue, jid): out of those that are kept back in a queue.
function Throttle.leave(queue, jid)
  local key = Key.throttled(queue)
  call('zrem', key, jid)
  if call('exists', key) == 0 then
    call('del', Key.awaited(queue))
  end
end

-- bring(now, jid, score) -> whether a job that was kept back goes to work. In line it is where it was.
local function bring(now, jid, score)
  local known = try('hmget', Key.job(jid), 'jid', 'state', 'queue', 'priority')
  if not known or not known[1] or known[2] ~= 'throttled' or not known[3] then
    return false
  end
  local queue, priority = known[3], Check.finite(known[4]) or 0
  if score <= FRONT and score > -math.huge then
    call('zadd', Key.work(queue), '+inf', jid)
    Queue.tell(queue)
  else
    local when = score + priority * 1e10
    if when < 0 or when > now then -- as the sibling has it
      when = now
    end
    Queue.to_work(queue, jid, priority, when)
  end
  call('hset', Key.job(jid), 'state', 'waiting')
  Throttle.leave(queue, jid)
  return true
end

-- let_in(now, id, most) -> whether any job went to work: as many of those that wait for a throttle as it has
-- room for do, the next in line first, and at most so many.
local function let_in(now, id, most)
  local pending = Key.throttle_pending(id)
  if #(try('zrange', pending, 0, 0) or {}) == 0 then
    return false
  end
  local room = math.min(room_of(id), most)
  local looked_at, moved = 0, false
  while room > 0 and looked_at < MOST do
    local found = call('zrange', pending, 0, math.min(room, MOST) - 1, 'withscores')
    if #found == 0 then
      break
    end
    for i = 1, #found, 2 do
      if bring(now, found[i], tonumber(found[i + 1])) then
        room, moved = room - 1, true
      end
      call('zrem', pending, found[i])
    end
    looked_at = looked_at + #found / 2
  end
  return moved
end

-- Throttle.release(now, jid, stored, queue, state): a job that ran, or waited, does not any more; the next
-- ones in line of its throttles go to work. `stored` is its field `throttles`; `queue` and `state` are where
-- it was; without them it stays in the set of its queue, for the caller to take it out when it is elsewhere.
function Throttle.release(now, jid, stored, queue, state)
  for _, id in ipairs(Throttle.ids(stored)) do
    if try('zrem', Key.throttle_locks(id), jid) ~= 1 then
      try('zrem', Key.throttle_pending(id), jid)
    end
    let_in(now, id, 1)
    local of = Key.queue_of(id)
    if of then -- its jobs wait in work, as they did before
      Queue.tell(of)
    end
  end
  if state == 'throttled' and queue and queue ~= '' then
    Throttle.leave(queue, jid)
  end
end

-- Throttle.enter(now, queue, jid, priority, ids) -> whether one of the throttles keeps back a job that
-- comes into the queue now; else it is to go to work.
function Throttle.enter(now, queue, jid, priority, ids)
  for _, id in ipairs(ids) do
    if room_of(id) <= 0 and pend(now, id, queue, { jid = jid, priority = priority, when = now }) then
      return true
    end
  end
  return false
end

-- Throttle.gate(queue) -> what one pop knows of throttles: `own`, the queue's, where it has a limit, and
-- `room`, by throttle.
function Throttle.gate(queue)
  local own = Key.queue_throttle(queue)
  local room = is_part(own) and math.huge or room_of(own)
  if room == math.huge then
    return { queue = queue, room = {} }
  end
  return { queue = queue, own = own, room = { [own] = room } }
end

-- Throttle.is_full(gate) -> whether the queue's own throttle lets no more of its jobs run.
function Throttle.is_full(gate)
  return gate.own ~= nil and gate.room[gate.own] <= 0
end

local function room_in(gate, id)
  if not gate.room[id] then
    gate.room[id] = room_of(id)
  end
  return gate.room[id]
end

-- Throttle.admit(now, gate, jid, score, fields) -> whether a job that stands in work with that score may run
-- now. Then it counts in each of its throttles; else it is kept back, and to be taken out of work.
-- `fields` as of Job.fields; their throttles are what is stored then.
function Throttle.admit(now, gate, jid, score, fields)
  local ids = Throttle.ids(fields[Job.THROTTLES])
  local text
  if gate.own then
    local named = false
    for _, id in ipairs(ids) do
      named = named or id == gate.own
    end
    if not named then
      ids[#ids + 1] = gate.own
      text = Json.list(ids)
      fields[Job.THROTTLES] = text
    end
  end
  local priority = Check.finite(fields[Job.PRIORITY]) or 0
  for _, id in ipairs(ids) do
    if room_in(gate, id) <= 0 and pend(now, id, gate.queue, {
      jid = jid,
      priority = priority,
      when = Queue.since(score, priority, Check.finite(fields[Job.TIME])),
      throttles = text,
      legacy = fields[Job.HISTORY],
    }) then
      return false
    end
  end
  for _, id in ipairs(ids) do
    try('zadd', Key.throttle_locks(id), 1, jid)
    gate.room[id] = gate.room[id] - 1
  end
  if text then
    call('hset', Key.job(jid), 'throttles', text)
  end
  return true
end

-- Those of the queue's jobs that wait for nothing any more, and what the others wait for, where it is not
-- known: clients of the sibling keep jobs back without telling.
local function adopt(now, queue)
  for _, jid in ipairs(call('zrange', Key.throttled(queue), 0, LOOKS - 1)) do
    local waits = false
    local stored = try('hget', Key.job(jid), 'throttles')
    for _, id in ipairs(Throttle.ids(stored)) do
      if try('zscore', Key.throttle_pending(id), jid) then
        waits = true
        call('zadd', Key.awaited(queue), now, id)
      end
    end
    if not waits and not bring(now, jid, -math.huge) then
      Throttle.leave(queue, jid)
    end
  end
end

-- Throttle.recheck(now, queue, room, silent) -> whether jobs of any queue went to work for which there is
-- room that nobody told of: a throttle expired, or a client changed it in its own way. At most `room` of
-- each throttle. Before a pop takes anything, `silent` is true: then only throttles without a limit are
-- looked at, as those who were let in before may stand in work and have the room already.
function Throttle.recheck(now, queue, room, silent)
  local throttled, awaited = Key.throttled(queue), Key.awaited(queue)
  local moved = false
  if silent then
    for _, jid in ipairs(call('zrangebyscore', throttled, '-inf', '-inf', 'limit', 0, MOST)) do
      if not bring(now, jid, -math.huge) then
        Throttle.leave(queue, jid)
      end
    end
  end
  local ids = call('zrange', awaited, 0, LOOKS - 1)
  if #ids == 0 then
    adopt(now, queue)
    ids = call('zrange', awaited, 0, LOOKS - 1)
  end
  for _, id in ipairs(ids) do
    if not silent or maximum(id) == math.huge then
      moved = let_in(now, id, math.min(room, MOST)) or moved
    end
    if (try('zcard', Key.throttle_pending(id)) or 0) == 0 then
      call('zrem', awaited, id)
    elseif #ids == LOOKS and not silent then
      call('zadd', awaited, now, id) -- others are next
    end
  end
  return moved
end

-- Throttle.rescore(jid, stored, queue, old, new): a job that is kept back has another priority; it keeps
-- its place among equals.
function Throttle.rescore(jid, stored, queue, old, new)
  local score
  for _, id in ipairs(Throttle.ids(stored)) do
    local key = Key.throttle_pending(id)
    local found = Check.finite(try('zscore', key, jid))
    if found and found > FRONT then
      score = found + (old - new) * 1e10
      call('zadd', key, score, jid)
    end
  end
  if score then
    call('zadd', Key.throttled(queue), score, jid)
  end
end

-- A limit for a queue begins: the jobs that run there count from now on.
local function count_running(queue, own)
  for _, jid in ipairs(call('zrange', Key.locks(queue), 0, -1)) do
    local known = try('hmget', Key.job(jid), 'state', 'queue', 'throttles')
    if known and known[1] == 'running' and known[2] == queue then
      local ids = Throttle.ids(known[3])
      local named = false
      for _, id in ipairs(ids) do
        named = named or id == own
      end
      if not named then
        ids[#ids + 1] = own
        call('hset', Key.job(jid), 'throttles', Json.list(ids))
      end
      call('zadd', Key.throttle_locks(own), 1, jid)
    end
  end
end

-- Sets the limit, and lets those in for whom there is room now.
local function set(now, id, most, expiry)
  local queue = Key.queue_of(id)
  if queue and most > 0 and maximum(id) == math.huge then
    count_running(queue, id)
  end
  call('hmset', Key.throttle(id), 'id', id, 'maximum', most)
  if expiry > 0 then
    call('expire', Key.throttle(id), expiry)
  elseif expiry < 0 then
    call('persist', Key.throttle(id))
  end
  let_in(now, id, MOST)
  if queue then
    Queue.tell(queue)
  end
end

local function json(id)
  local most = maximum(id)
  return '{"id":' .. encode(id) .. ',"maximum":' .. (most == math.huge and 0 or Json.number(most)) .. '}'
end

local function name(value)
  return must_fit(Check.name(value, 'throttle'), 'throttle')
end

-- throttle.set id maximum expiry? -> nil. So many jobs that name it run at once; 0 for no limit. With an
-- expiry above 0 the limit ends after so many seconds; 0 or none leaves that as it is, -1 takes it
-- back. Jobs for which there is room now go to work.
Commands['throttle.set'] = function(now, arg)
  local id = name(arg[1])
  local most = Check.count(arg[2], 'maximum')
  local expiry = arg[3] == '-1' and -1 or Check.count(arg[3], 'expiry', 0)
  set(now, id, most, expiry)
  return nil
end

-- throttle.get id -> JSON {id, maximum}; the maximum is 0 where there is no limit. Reads only.
Commands['throttle.get'] = function(_, arg)
  return json(name(arg[1]))
end

-- throttle.locks id -> list of the jids that run under it. Reads only.
Commands['throttle.locks'] = function(_, arg)
  return call('zrange', Key.throttle_locks(name(arg[1])), 0, -1)
end

-- throttle.pending id -> list of the jids that it keeps back, the next in line first. Reads only.
Commands['throttle.pending'] = function(_, arg)
  return call('zrange', Key.throttle_pending(name(arg[1])), 0, -1)
end

-- throttle.ttl id -> seconds until the limit ends; -1 when it does not, -2 when there is none. Reads only.
Commands['throttle.ttl'] = function(_, arg)
  return call('ttl', Key.throttle(name(arg[1])))
end

-- throttle.release id jid... -> nil. The jobs count no more, though they may go on to run; the next in line
-- go to work. One that was kept back goes to work with the next pop of its queue.
Commands['throttle.release'] = function(now, arg)
  local id = name(arg[1])
  local jids = Check.names(arg, 2, 'jid')
  Check.memory()
  for _, jid in ipairs(jids) do
    if call('zrem', Key.throttle_locks(id), jid) == 0
      and call('zrem', Key.throttle_pending(id), jid) == 1 then
      local queue = try('hget', Key.job(jid), 'queue')
      if queue then
        call('zadd', Key.throttled(queue), 'XX', '-inf', jid)
      end
    end
    let_in(now, id, 1)
  end
  return nil
end

-- throttle.delete id -> nil. There is no limit any more; the jobs that it kept back go to work.
Commands['throttle.delete'] = function(now, arg)
  local id = name(arg[1])
  Check.memory()
  call('del', Key.throttle(id))
  let_in(now, id, MOST)
  return nil
end

-- The throttle of a queue; refuses the name of one that can have none, as its key would be another one's.
local function of_queue(value)
  return Key.queue_throttle(must_fit(Check.name(value, 'queue'), 'queue'))
end

-- queue.throttle.get queue -> JSON {id, maximum} of the queue's own throttle. Reads only.
Commands['queue.throttle.get'] = function(_, arg)
  return json(of_queue(arg[1]))
end

-- queue.throttle.set queue maximum -> nil. So many jobs of the queue run at once, those that run already
-- among them; 0 for no limit.
Commands['queue.throttle.set'] = function(now, arg)
  local id = of_queue(arg[1])
  set(now, id, Check.count(arg[2], 'maximum'), 0)
  return nil
end
