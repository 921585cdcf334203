-- A queue: its sorted sets, its counts, and what is done to it as a whole.

-- Queue.score(priority, when) -> where a job stands in the work set: by priority, then first in,
-- first out.
function Queue.score(priority, when)
  return priority - when / 1e10
end

-- Queue.since(score, priority, time) -> the moment since when a job stands in line that has this score in the work
-- set. The higher the priority, the fewer of its digits are left there; where the job's `time`, a number or nil,
-- is that moment, it has them all.
function Queue.since(score, priority, time)
  local when = (priority - score) * 1e10
  if time and math.abs(when - time) <= 1e-5 * (1 + math.abs(priority)) then
    return time
  end
  return when
end

-- How long a token lies in store, in milliseconds: for those who are about to block on it.
local TOKEN_MS = 30000

-- What is due in less than so many seconds is told of at once: nobody looks less often (see wait.lua).
local SOON_S = 10

-- Queue.wake(key): puts a token there, for one of those who block on that key.
function Queue.wake(key)
  local ok, added = pcall(call, 'zadd', key, 0, '1')
  if ok and added == 1 then
    call('pexpire', key, TOKEN_MS)
  end
end

-- Queue.rouse(queue): one of those who wait for the queue is woken, and it is marked: until somebody finds
-- that there is nothing, there may be something to take.
function Queue.rouse(queue)
  call('set', Key.waited(queue), '1', 'xx', 'keepttl')
  Queue.wake(Key.wake(queue))
end

-- Queue.tell(queue): there may be something to take. One of those who wait for it is woken, once a call;
-- where nobody waits, this is all that waiting costs. `Call.told`: the queue of which this call told last.
function Queue.tell(queue)
  if Call.told == queue then
    return
  end
  Call.told = queue
  if call('exists', Key.waited(queue)) == 1
    and call('sismember', Key.paused_queues, queue) == 0 then
    Queue.rouse(queue)
  end
end

-- Queue.tell_later(queue, delay): something is due there in so many seconds.
function Queue.tell_later(queue, delay)
  if delay < SOON_S then
    Queue.tell(queue)
  end
end

-- The set that holds a queue's jobs of each state.
local SETS = {
  waiting = Key.work,
  stalled = Key.work,
  running = Key.locks,
  scheduled = Key.scheduled,
  depends = Key.depends,
  throttled = Key.throttled,
}

-- Queue.set_of(state, queue) -> the key of the set that holds the queue's jobs of a state; nil where the
-- state has none, or the job is in no queue.
function Queue.set_of(state, queue)
  local set = SETS[state]
  return set and queue and set(queue)
end

-- Queue.to_work(queue, jid, priority, when): waits there for a worker, in line since that moment.
function Queue.to_work(queue, jid, priority, when)
  call('zadd', Key.work(queue), Queue.score(priority, when), jid)
  Queue.tell(queue)
end

-- Queue.enter(now, queue, jid, priority, delay, waits) -> the state that the job is in there: waits
-- for others, for its time, or for a worker. Writes the set only.
function Queue.enter(now, queue, jid, priority, delay, waits)
  if waits then
    call('zadd', Key.depends(queue), now, jid)
    return 'depends'
  elseif delay > 0 then
    call('zadd', Key.scheduled(queue), now + delay, jid)
    Queue.tell_later(queue, delay)
    return 'scheduled'
  end
  Queue.to_work(queue, jid, priority, now)
  return 'waiting'
end

-- Queue.set_aside(queue, jid): a job that cannot be taken, as something else lies under a key of it,
-- waits behind all others until that is mended.
function Queue.set_aside(queue, jid)
  call('zadd', Key.work(queue), '-inf', jid)
  call('zrem', Key.locks(queue), jid)
  call('zrem', Key.scheduled(queue), jid)
end

-- Queue.is_elsewhere(jid, state, queue, here) -> whether a job that the set `here` names is not to be
-- had from there: by its own word it is in another set, and that set has it, too; or it is done with.
-- A job whose word nothing bears out is here: the original's `retry` and `complete` put jobs into sets
-- without telling them.
function Queue.is_elsewhere(jid, state, queue, here)
  if state == 'failed' or state == 'complete' then
    return true
  end
  local key = Queue.set_of(state, queue)
  return key and key ~= here and call('zscore', key, jid) ~= false or false
end

-- Queue.remember(queue, now): adds it to the known ones.
function Queue.remember(queue, now)
  call('zadd', Key.queues, 'NX', Call.now, queue)
end

-- Queue.leave(queue, jid, entered): out of every set, for jobs whose state may not tell which one holds it;
-- but the one that the job has entered, a key or nil: it is there before it leaves, so that what breaks half
-- way loses none. Of those that a throttle keeps back, see Throttle.leave.
function Queue.leave(queue, jid, entered)
  for _, key in ipairs({ Key.work(queue), Key.locks(queue), Key.scheduled(queue), Key.depends(queue) }) do
    if key ~= entered then
      call('zrem', key, jid)
    end
  end
end

-- counts(now, queue) -> JSON. A scheduled job whose time has come counts as waiting. Jobs that recur by
-- cron expression are counted where there are some, beside `recurring`, which is as other clients know it.
local function counts(now, queue)
  local locks = Key.locks(queue)
  local crons = call('zcard', Key.cron(queue))
  local throttled = call('zcard', Key.throttled(queue))
  local scheduled = Key.scheduled(queue)
  local stalled = call('zcount', locks, '-inf', now)
  local due = call('zcount', scheduled, '-inf', now)
  return '{"name":' .. encode(queue)
    .. ',"waiting":' .. (call('zcard', Key.work(queue)) + due)
    .. ',"running":' .. (call('zcard', locks) - stalled)
    .. ',"stalled":' .. stalled
    .. ',"scheduled":' .. (call('zcard', scheduled) - due)
    .. ',"depends":' .. call('zcard', Key.depends(queue))
    .. ',"recurring":' .. call('zcard', Key.recur(queue))
    .. (crons > 0 and ',"cron":' .. crons or '')
    .. (throttled > 0 and ',"throttled":' .. throttled or '')
    .. ',"paused":' .. (call('sismember', Key.paused_queues, queue) == 1 and 'true' or 'false')
    .. '}'
end

-- queues queue? -> JSON of one queue, or a JSON list of all known ones. Reads only.
Commands['queues'] = function(now, arg)
  if arg[1] then
    return counts(now, Check.name(arg[1], 'queue'))
  end
  local all = {}
  for i, queue in ipairs(call('zrange', Key.queues, 0, -1)) do
    all[i] = counts(now, queue)
  end
  return Json.join(all)
end

-- length queue -> how many jobs wait, run or are scheduled. Reads only.
Commands['length'] = function(_, arg)
  local queue = Check.name(arg[1], 'queue')
  return call('zcard', Key.work(queue)) + call('zcard', Key.locks(queue))
    + call('zcard', Key.scheduled(queue))
end

-- pause queue... -> nil. No pop takes anything from them.
Commands['pause'] = function(_, arg)
  for _, queue in ipairs(Check.names(arg, 1, 'queue')) do
    call('sadd', Key.paused_queues, queue)
  end
  return nil
end

-- unpause queue... -> nil.
Commands['unpause'] = function(_, arg)
  for _, queue in ipairs(Check.names(arg, 1, 'queue')) do
    call('srem', Key.paused_queues, queue)
    Queue.tell(queue)
  end
  return nil
end

-- queue.forget queue... -> nil. Off the list of known queues until something is put there; a queue
-- that comes back that way is not paused by what was said of it before.
Commands['queue.forget'] = function(_, arg)
  for _, queue in ipairs(Check.names(arg, 1, 'queue')) do
    call('zrem', Key.queues, queue)
    call('srem', Key.paused_queues, queue)
    Queue.tell(queue)
  end
  return nil
end

-- What is in a set between two ranks, from an offset on: by rank, as Redis would walk an offset.
local function stretch(command, key, first, stop, offset, count)
  local from, to = first + offset, math.min(first + offset + count, stop)
  if from >= to then
    return {}
  end
  return call(command, key, from, to - 1)
end

-- The listings of a queue: state -> function(queue, now, offset, count) -> jids.
local Listings = {}

local function passed(key, now)
  return call('zcount', key, '-inf', now)
end

-- A lock that ends in this very moment is listed as running and as stalled, as the original does.
function Listings.running(queue, now, offset, count)
  local key = Key.locks(queue)
  local before = call('zcount', key, '-inf', Json.after(now))
  return stretch('zrange', key, before, math.huge, offset, count)
end

function Listings.stalled(queue, now, offset, count)
  local key = Key.locks(queue)
  return stretch('zrange', key, 0, passed(key, now), offset, count)
end

function Listings.scheduled(queue, now, offset, count)
  local key = Key.scheduled(queue)
  if offset == 0 and count == 0 then
    return call('zrange', key, passed(key, now), -1)
  end
  return stretch('zrange', key, passed(key, now), math.huge, offset, count)
end

function Listings.depends(queue, _, offset, count)
  return call('zrange', Key.depends(queue), offset, Check.stop(offset, count))
end

-- Both kinds by next run: of two sets that are in order, no more is needed than their beginnings.
local function both_kinds(queue, offset, count)
  local runs, jids = {}, {}
  for _, key in ipairs({ Key.recur(queue), Key.cron(queue) }) do
    local found = call('zrange', key, 0, offset + count - 1, 'withscores')
    for i = 1, #found, 2 do
      jids[#jids + 1] = found[i]
      runs[found[i]] = tonumber(found[i + 1])
    end
  end
  table.sort(jids, function(a, b)
    return runs[a] < runs[b] or (runs[a] == runs[b] and a < b)
  end)
  local part = {}
  for i = offset + 1, math.min(offset + count, #jids) do
    part[#part + 1] = jids[i]
  end
  return part
end

function Listings.throttled(queue, _, offset, count)
  return call('zrange', Key.throttled(queue), offset, Check.stop(offset, count))
end

function Listings.recurring(queue, _, offset, count)
  if count > 0 and call('exists', Key.cron(queue)) == 1 then
    return both_kinds(queue, offset, count)
  end
  return stretch('zrange', Key.recur(queue), 0, math.huge, offset, count)
end

-- jobs complete offset? count? -> jids, newest first.
-- jobs state queue offset? count? -> jids; state is running, stalled, scheduled, depends, throttled
-- (the next in line first) or recurring (of either kind, by next run). A count of 0 from the beginning is
-- all, but for running, stalled and recurring. Reads only.
Commands['jobs'] = function(now, arg)
  local state = arg[1] or ''
  if state == 'complete' then
    local offset = Check.count(arg[2], 'offset', 0)
    local count = Check.count(arg[3], 'count', 25)
    return call('zrevrange', Key.completed, offset, Check.stop(offset, count))
  end
  local listing = Listings[state]
  if not listing then
    Check.must('state', 'complete, running, stalled, scheduled, depends, throttled or recurring', arg[1])
  end
  local queue = Check.name(arg[2], 'queue')
  local offset = Check.count(arg[3], 'offset', 0)
  local count = Check.count(arg[4], 'count', 25)
  return listing(queue, now, offset, count)
end
