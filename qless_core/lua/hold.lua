-- One recurring job paused, let go on, or run now. A paused one stays where it is, in the set of its queue,
-- but due at no time: so every member of that set is what the original script takes it for, and no client has
-- to know of this. Its field `held` is the run that it was paused before. Who defines it anew with the
-- original's `recur` lets it go on: then it is due at a time, and `held` says nothing.

local NEVER = '+inf'

-- What is known of a recurring job, and whether it is paused.
local function find(jid)
  local known = Spawn.known(jid)
  if not known then
    Check.refuse('RECURRING_NOT_FOUND', 'Recurring job ' .. jid .. ' does not exist', 1)
  end
  known.score = call('zscore', known.set(known.queue), jid)
  return known, known.held and (known.is_cron or not Check.finite(known.score))
end

-- recur.pause jid -> 1, or 0 when it is paused already. No run of it is made until it goes on; those that
-- are owed are passed over then.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.pause'] = function(_, arg)
  local jid = Check.name(arg[1], 'jid')
  local known, is_paused = find(jid)
  if is_paused then
    return 0
  end
  local score = Check.finite(known.score)
  call('hset', known.hash(jid), 'held', score and Json.number(score) or '')
  call('zadd', known.set(known.queue), NEVER, jid)
  return 1
end

-- The first run after now, of those that go on from `held` by interval.
local function next_of(now, held, interval)
  local first = Check.finite(held) or now
  local step = Check.finite(interval)
  if first > now or not step or step <= 0 then
    return first
  end
  return first + (floor((now - first) / step) + 1) * step
end

-- recur.unpause jid -> 1, or 0 when it is not paused. It goes on with its next run, in the rhythm that it had;
-- the runs that were missed are not made up for, whatever its backlog.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.unpause'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local known, is_paused = find(jid)
  if not is_paused then
    return 0
  end
  if known.is_cron then
    local planned = Check.finite(known.planned) or now
    call('hmset', known.hash(jid), 'made', floor(now), 'planned', math.max(planned, floor(now)))
    call('zremrangebyscore', Key.cron_runs(jid), '-inf', now)
    call('hdel', known.hash(jid), 'held')
    Cron.wait(jid, known.queue)
    return 1
  end
  local next_run = next_of(now, known.held, known.interval)
  call('zadd', Key.recur(known.queue), next_run, jid)
  call('hdel', known.hash(jid), 'held')
  Queue.tell_later(known.queue, next_run - now)
  return 1
end

-- recur.run jid -> the jid of a child that is made now, paused or not. The runs to come stay as they are.
-- Refuses: RECURRING_NOT_FOUND.
Commands['recur.run'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local known = find(jid)
  local child = Spawn.at_once(now, jid, known)
  if not child then
    Check.refuse('BAD_ARGUMENT', 'Recurring job ' .. jid .. ' has no number left for a child')
  end
  Queue.remember(known.queue, now)
  return child
end
