-- Waiting for jobs. Who finds none blocks on keys into which a token is put when there may be one: Redis
-- gives each token to one of those who wait, and forgets those who are gone. Nothing is published, and
-- where nobody waits nothing is written (see `Queue.tell`).
--
-- Those who wait for the same queues are a group. One of them is its lookout: it looks when something is
-- due, and now and then for what other clients put, as these leave no token. When it goes, another of the
-- group is nudged to take over; when it dies, the others find out by themselves.

-- How long a queue counts as waited for, in milliseconds; renewed when half of it is over. Much longer than
-- anybody blocks at a time, which is some 10 s.
local WAITED_MS = 60000

-- A lookout that is so much later than it said is not there any more.
local LATE_MS = 2000

-- Seconds after which a lookout looks again, at the latest and at the earliest.
local LOOK_S, SOON_S = 2, 0.001

-- The most queues of one group: Lua can unpack a key of each.
local MOST_QUEUES = 1000

-- The sets of a queue whose jobs come later; a score is when.
local LATER = { Key.scheduled, Key.locks, Key.recur, Key.cron }

-- is_stocked(queue) -> whether there is anything in it, for now or for later.
local function is_stocked(queue)
  return call('exists', Key.work(queue), Key.scheduled(queue), Key.locks(queue), Key.recur(queue),
    Key.cron(queue), Key.throttled(queue)) > 0
end

-- is_ready(now, queue) -> whether a pop may find something in a queue that is stocked. What a throttle
-- keeps back it finds where there is room of which nobody told.
local function is_ready(now, queue)
  if call('exists', Key.work(queue), Key.throttled(queue)) > 0 then
    return true
  end
  for _, set in ipairs(LATER) do
    local first = call('zrange', set(queue), 0, 0, 'withscores')[2]
    if first and tonumber(first) <= now then
      return true
    end
  end
  return false
end

-- due_in(now, queue) -> seconds until something in it is due next; nil when that is not known.
local function due_in(now, queue)
  local soonest
  for _, set in ipairs(LATER) do
    local first = call('zrangebyscore', set(queue), Json.after(now), '+inf', 'withscores',
      'limit', 0, 1)[2]
    local when = first and tonumber(first)
    if when and (not soonest or when < soonest) then
      soonest = when
    end
  end
  return soonest and soonest - now
end

local function is_paused(queue)
  return call('sismember', Key.paused_queues, queue) == 1
end

-- Who looks out for a group: {waiter, at, til}, with the moment of the next look and that until which the
-- queues count as waited for, in milliseconds of the server's clock; waiter is '' when nobody does now.
-- nil when nobody of the group waits.
local function lookout_of(group)
  local ok, stored = pcall(call, 'get', Key.lookout(group))
  local at, til, waiter = string.match(ok and stored or '', '^(%d+) (%d+) (.*)$')
  return at and { waiter = waiter, at = tonumber(at), til = tonumber(til) }
end

local function set_lookout(group, waiter, at, til)
  call('set', Key.lookout(group), string.format('%.0f %.0f %s', at, til, waiter), 'px', WAITED_MS)
end

-- The server's own clock, in milliseconds: what waiters agree on, whatever clocks they go by.
local function clock()
  local time = call('time')
  return floor(time[1] * 1000 + time[2] / 1000)
end

-- Whether it is somebody else, who will look in time.
local function is_kept(lookout, waiter, ms)
  return lookout and lookout.waiter ~= '' and lookout.waiter ~= waiter and ms <= lookout.at + LATE_MS
end

-- keep(waiter, group, queues, again) -> the seconds after which this waiter is to look again, when it is
-- the lookout now; nil when another one looks no later. The queues count as waited for.
local function keep(waiter, group, queues, again)
  local ms = clock()
  local at = ms + math.ceil(again * 1000)
  local lookout = lookout_of(group)
  local others = is_kept(lookout, waiter, ms) and lookout.at <= at
  local til = lookout and lookout.til or 0
  if til < ms + WAITED_MS / 2 then
    til = ms + WAITED_MS
    for _, queue in ipairs(queues) do
      call('set', Key.waited(queue), '1', 'px', WAITED_MS)
    end
  elseif others then
    return nil
  end
  if others then
    set_lookout(group, lookout.waiter, lookout.at, til)
    return nil
  end
  set_lookout(group, waiter, at, til)
  return again
end

-- The lookout of a group goes: the next one that waits takes over.
local function release(group, lookout)
  set_lookout(group, '', 0, lookout.til)
  Queue.wake(Key.nudge(group))
end

-- hand_on(now, waiter, group, queues, from): this waiter has jobs out of a queue, and goes. If there is
-- more to take, there or in a later queue, another one is woken; those before have nothing.
local function hand_on(now, waiter, group, queues, from)
  for i = from, #queues do
    local queue = queues[i]
    if call('exists', Key.waited(queue)) == 1 and is_stocked(queue) and not is_paused(queue)
      and is_ready(now, queue) then
      Queue.wake(Key.wake(queue))
    end
  end
  local lookout = lookout_of(group)
  if not lookout then
    return
  elseif lookout.waiter == '' then
    return
  elseif lookout.waiter == waiter then
    release(group, lookout)
  else
    -- A recurring job may be due again before the lookout looks.
    local again = due_in(now, queues[from])
    if again and clock() + again * 1000 < lookout.at then
      Queue.wake(Key.nudge(group))
    end
  end
end

-- pop, but nobody is told of what becomes work in it: that is seen to when it is over.
local function pop(now, queue, worker, count)
  local told = Queue.told
  Queue.told = { [queue] = true }
  local ok, reply = pcall(Commands['pop'], now, { queue, worker, count })
  Queue.told = told
  if not ok then
    error(reply, 0)
  end
  return reply
end

-- Takes the tokens away that lie in store: whoever takes them away has looked.
local function take_tokens(group, queues)
  local keys = { Key.nudge(group) }
  for i, queue in ipairs(queues) do
    keys[i + 1] = Key.wake(queue)
  end
  call('del', unpack(keys))
end

-- The queues that are named from an argument on.
local function queues_from(arg, from)
  local queues = Check.names(arg, from, 'queue')
  if #queues > MOST_QUEUES then
    Check.must('queues', 'at most ' .. MOST_QUEUES .. ' names', '' .. #queues)
  end
  return queues
end

local function earlier(again, now, queue)
  local soon = due_in(now, queue)
  return soon and math.max(math.min(again, soon), SOON_S) or again
end

-- wait.pop worker count waiter group queue... -> JSON {"jobs": list, "again": seconds or null}.
-- `jobs`: what `pop` takes out of the first of the queues that gives something. When none does, this waiter
-- is to block on the `-wake` keys of the queues and the `ql:nudge:` keys of the group and of itself with
-- BZPOPMIN, for 12 seconds at most, and to call again after that. When `again` is a number, it is the
-- lookout of its group, too: so many seconds from now it is to call `wait.look`, while it blocks. `waiter`
-- is a name that nobody else has who waits, or empty for one who will not; `group` is one that all have who
-- wait for these queues.
-- Publishes: as pop.
Commands['wait.pop'] = function(now, arg)
  local worker = Check.name(arg[1], 'worker')
  local count = Check.count(arg[2], 'count')
  local waiter = Check.text(arg[3], 'waiter')
  local group = Check.name(arg[4], 'group')
  local queues = queues_from(arg, 5)
  Worker.seen(worker, now)
  local again = LOOK_S
  for i, queue in ipairs(queues) do
    if is_stocked(queue) and not is_paused(queue) then
      local jobs = is_ready(now, queue) and pop(now, queue, worker, count) or '[]'
      if jobs ~= '[]' then
        hand_on(now, waiter, group, queues, i)
        return '{"jobs":' .. jobs .. ',"again":null}'
      end
      again = earlier(again, now, queue)
    end
  end
  if waiter == '' then
    return '{"jobs":[],"again":null}'
  end
  take_tokens(group, queues)
  again = keep(waiter, group, queues, again)
  return '{"jobs":[],"again":' .. (again and Json.number(again) or 'null') .. '}'
end

-- wait.look waiter group queue... -> seconds after which the lookout is to call this again, as text; nil
-- when it is the lookout no more. Where there is something to take, one of those who wait is woken.
Commands['wait.look'] = function(now, arg)
  local waiter = Check.name(arg[1], 'waiter')
  local group = Check.name(arg[2], 'group')
  local queues = queues_from(arg, 3)
  if is_kept(lookout_of(group), waiter, clock()) then
    return nil
  end
  local again = LOOK_S
  for _, queue in ipairs(queues) do
    if is_stocked(queue) and not is_paused(queue) then
      if is_ready(now, queue) then
        Queue.wake(Key.wake(queue))
      end
      again = earlier(again, now, queue)
    end
  end
  again = keep(waiter, group, queues, again)
  return again and Json.number(again)
end

-- wait.leave waiter group -> nil. It waits no more, and took nothing: where it was the lookout, another one
-- takes over.
Commands['wait.leave'] = function(_, arg)
  local waiter = Check.name(arg[1], 'waiter')
  local group = Check.name(arg[2], 'group')
  local lookout = lookout_of(group)
  if lookout and lookout.waiter == waiter then
    release(group, lookout)
  end
  return nil
end

-- wait.wake waiter -> nil. It blocks no more.
Commands['wait.wake'] = function(_, arg)
  Queue.wake(Key.nudge(Check.name(arg[1], 'waiter')))
  return nil
end
