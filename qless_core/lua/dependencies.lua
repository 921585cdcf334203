-- Which job waits for which: two sets for each edge, and the `depends` state.

-- The members of a set of a job; none where something else lies under its key: there may be another job.
local function members(key)
  local ok, jids = pcall(call, 'smembers', key)
  return ok and jids or {}
end

-- Dependencies.of(jid) -> the jids that it waits for, by what is stored.
function Dependencies.of(jid)
  return members(Key.dependencies(jid))
end

-- Takes a member out of a set of a job, if it is one.
local function drop(key, jid)
  pcall(call, 'srem', key, jid)
end

-- Dependencies.effective(jids) -> those that can be waited for: they exist and are not complete.
function Dependencies.effective(jids)
  local waited = {}
  for _, jid in ipairs(jids) do
    local ok, state = pcall(call, 'hget', Key.job(jid), 'state')
    if ok and state and state ~= 'complete' then
      waited[#waited + 1] = jid
    end
  end
  return waited
end

-- Dependencies.refuse_missing(jid, jids): for callers who take a job that is not there for a slip of the
-- pen, where it would be skipped otherwise. A complete one is there.
function Dependencies.refuse_missing(jid, jids)
  local missing = {}
  for _, other in ipairs(jids) do
    local ok, found = pcall(call, 'hexists', Key.job(other), 'jid')
    if not ok or found == 0 then
      missing[#missing + 1] = other
    end
  end
  if #missing > 0 then
    Check.refuse('NO_DEPENDENCY', 'Job ' .. jid .. ' cannot depend on jobs that do not exist: '
      .. Json.list(missing), 1)
  end
end

local function waits_for(other, jid)
  return call('sismember', Key.dependencies(other), jid) == 1
    and call('hexists', Key.job(other), 'jid') == 1
end

-- Dependencies.waiting_for(jid, but, most) -> of the jobs that wait for this one, at most so many: those
-- that exist and wait for it still, without those that the set `but` has.
function Dependencies.waiting_for(jid, but, most)
  local others = {}
  for _, other in ipairs(members(Key.dependents(jid))) do
    if #others == most then
      break
    end
    if not but[other] then
      local ok, waits = pcall(waits_for, other, jid)
      if ok and waits then
        others[#others + 1] = other
      end
    end
  end
  return others
end

-- Dependencies.link(jid, jids): jid waits for all of these.
function Dependencies.link(jid, jids)
  for _, other in ipairs(jids) do
    call('sadd', Key.dependents(other), jid)
    call('sadd', Key.dependencies(jid), other)
  end
end

-- Dependencies.unlink(jid, other): jid no longer waits for other.
function Dependencies.unlink(jid, other)
  drop(Key.dependents(other), jid)
  call('srem', Key.dependencies(jid), other)
end

-- The longest way that a refusal names in full.
local LONGEST = 20

-- The way from one of the jobs along its dependencies to `goal`, as text, and where it begins; nil when
-- there is none. `waits` has, by jid, whom those wait for that are not stored yet. Without recursion: chains may
-- be longer than the stack is deep.
local function path_to(goal, starts, waits)
  local came_from = {}
  local stack = {}
  for i = #starts, 1, -1 do
    came_from[starts[i]] = false
    stack[#stack + 1] = starts[i]
  end
  while #stack > 0 do
    local jid = table.remove(stack)
    if jid == goal then
      local path = {}
      while jid do
        path[#path + 1] = jid
        jid = came_from[jid]
      end
      local text = {}
      for i = #path, 1, -1 do
        if i == 2 and #path > LONGEST then
          text[#text + 1] = '... ' .. (#path - LONGEST) .. ' more'
        elseif i == 1 or #path - i < LONGEST then
          text[#text + 1] = path[i]
        end
      end
      return table.concat(text, ' -> '), path[#path]
    end
    for _, other in ipairs(waits[jid] or Dependencies.of(jid)) do
      if came_from[other] == nil then
        came_from[other] = jid
        stack[#stack + 1] = other
      end
    end
  end
  return nil
end

-- Dependencies.refuse_ring(jid, jids, waits): a job that waits for itself, through whomever, never runs.
-- Only a job that others wait for already can close a ring, so most calls walk nothing; but where others are to
-- come in the same call: `waits` has whom they wait for, by jid.
function Dependencies.refuse_ring(jid, jids, waits)
  for _, other in ipairs(jids) do
    if other == jid then
      Check.refuse('BAD_ARGUMENT', 'Job ' .. jid .. ' cannot depend on itself: '
        .. jid .. ' -> ' .. jid, 1)
    end
    call('scard', Key.dependents(other)) -- where something else lies there, that is said before a write
  end
  if #jids == 0 or (not waits and call('exists', Key.dependents(jid)) == 0) then
    return
  end
  local path, other = path_to(jid, jids, waits or {})
  if path then
    Check.refuse('BAD_ARGUMENT', 'Job ' .. jid .. ' cannot depend on ' .. other
      .. ', which waits for it: ' .. jid .. ' -> ' .. path, 1)
  end
end

-- Dependencies.replace(jid, jids, effective): waits for those of the list that can be waited for, which
-- the caller found before it wrote anything; what it waited for and is not in the list is waited for no
-- more.
function Dependencies.replace(jid, jids, effective)
  local wanted = {}
  for _, other in ipairs(jids) do
    wanted[other] = true
  end
  local old = call('smembers', Key.dependencies(jid))
  Dependencies.link(jid, effective)
  for _, other in ipairs(old) do
    if not wanted[other] then
      Dependencies.unlink(jid, other)
    end
  end
end

-- Dependencies.remember(jid, due): a job with a delay begins to wait for others; when they are done
-- it is scheduled for then. As in the original, a later put without a delay does not take it back.
function Dependencies.remember(jid, due)
  if due then
    call('hset', Key.job(jid), 'scheduled', due)
  end
end

-- A job that waited for others waits for none: it goes to work, or, with a moment `due`, to the schedule.
-- Answers the state that it is in now.
local function go(now, jid, queue, priority, due)
  local state = 'waiting'
  if due then
    state = 'scheduled'
    call('zadd', Key.scheduled(queue), due, jid)
    call('hset', Key.job(jid), 'state', state)
    call('hdel', Key.job(jid), 'scheduled')
    Queue.tell_later(queue, due - now)
  else
    Queue.to_work(queue, jid, Check.finite(priority) or 0, now)
    call('hset', Key.job(jid), 'state', state)
  end
  call('zrem', Key.depends(queue), jid)
  return state
end

-- Dependencies.settle(now, jid, other) -> the state that jid goes to, now that it waits for `other` no more;
-- nil while it waits for more, or does not wait at all. It goes first, and forgets the other one then: where
-- it cannot go, it waits as before, for somebody to see.
function Dependencies.settle(now, jid, other)
  local known = call('hmget', Key.job(jid), 'queue', 'priority', 'scheduled', 'state')
  local key = Key.dependencies(jid)
  local others = call('scard', key) - call('sismember', key, other)
  local state
  if known[1] and known[4] == 'depends' and others == 0 then
    state = go(now, jid, known[1], known[2], Check.finite(known[3]))
  end
  call('srem', key, other)
  return state
end

-- Dependencies.release(now, jid): a job is finished; of its dependents, those that waited only for it go
-- to work, or to the schedule where they had a delay. One that cannot go, as something else lies under a key
-- of it or of its queue, waits for this one still, where the audit finds it, and costs no other. Publishes
-- nothing.
function Dependencies.release(now, jid)
  local key = Key.dependents(jid)
  local ok, waiting = pcall(call, 'smembers', key)
  if not ok or #waiting == 0 then
    return
  end
  for _, other in ipairs(waiting) do
    pcall(Dependencies.settle, now, other, jid)
  end
  call('del', key)
end

-- Dependencies.forget(jid): a job goes; nobody is to think that it still waits.
function Dependencies.forget(jid)
  for _, other in ipairs(members(Key.dependencies(jid))) do
    drop(Key.dependents(other), jid)
  end
end

local function refuse_state(jid, state)
  Check.refuse('NOT_DEPENDS', 'Job ' .. jid .. ' is not in the depends state: '
    .. (state or 'missing'), 1)
end

-- depends jid on jid... : from waiting and scheduled, too; a delay is remembered. `strict` is `on` for
-- jobs that must exist.
local function switch_on(now, jid, jids, strict)
  local known = call('hmget', Key.job(jid), 'state', 'queue', 'scheduled', 'throttles')
  local state, queue = known[1], known[2]
  if state ~= 'depends' and state ~= 'waiting' and state ~= 'scheduled' and state ~= 'throttled' then
    refuse_state(jid, state)
  elseif not queue then
    refuse_state(jid, 'in no queue')
  end
  if strict then
    Dependencies.refuse_missing(jid, jids)
  end
  Dependencies.refuse_ring(jid, jids)
  local waited = Dependencies.effective(jids)
  if #waited == 0 then
    if state ~= 'depends' then
      refuse_state(jid, state) -- as in the original: it would not wait for anybody
    end
    return
  end
  Dependencies.link(jid, waited)
  if state == 'depends' then
    return
  end
  local due = call('zscore', Key.scheduled(queue), jid)
  call('zadd', Key.depends(queue), now, jid)
  call('hset', Key.job(jid), 'state', 'depends')
  Queue.leave(queue, jid, Key.depends(queue))
  if state == 'throttled' then
    Throttle.release(now, jid, known[4], queue, state)
  end
  -- The original refuses these states: here nothing of another time is left to be found.
  if due then
    Dependencies.remember(jid, due)
  elseif known[3] then
    call('hdel', Key.job(jid), 'scheduled')
  end
end

-- depends jid off jid... | all : the last one off makes the job waiting.
local function switch_off(now, jid, jids)
  local known = call('hmget', Key.job(jid), 'state', 'queue', 'priority')
  local queue = known[2]
  if known[1] ~= 'depends' then
    refuse_state(jid, known[1])
  elseif not queue then
    refuse_state(jid, 'in no queue')
  end
  Check.memory()
  if jids[1] == 'all' then
    jids = call('smembers', Key.dependencies(jid))
  end
  for _, other in ipairs(jids) do
    Dependencies.unlink(jid, other)
  end
  if call('exists', Key.dependencies(jid)) == 0 then
    go(now, jid, queue, known[3])
  end
end

-- depends jid on jid... | jid strict jid... | jid off jid... | jid off all -> 1.
-- `on` skips jobs that do not exist or are complete, and refuses where none is left that a job outside of
-- `depends` could wait for; `strict`, a word of ours, refuses those that do not exist.
-- Refuses: NOT_DEPENDS; NO_DEPENDENCY; BAD_ARGUMENT for a ring.
Commands['depends'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local switch = arg[2] or ''
  if switch ~= 'on' and switch ~= 'off' and switch ~= 'strict' then
    Check.must('switch', 'on, strict or off', switch)
  end
  local jids = Check.names(arg, 3, 'jid')
  if switch == 'off' then
    switch_off(now, jid, jids)
  else
    switch_on(now, jid, jids, switch == 'strict')
  end
  return 1
end
