-- Waiting for jobs. Who finds none blocks on keys into which a token is put when there may be one: Redis
-- gives each token to one of those who wait, and forgets those who are gone. Nothing is published, and
-- where nobody waits nothing is written (see `Queue.tell`).
--
-- `<queue>-waited` is there while somebody may wait: 1 when there may be something to take, 0 when somebody
-- has found that there is not. So whoever is woken knows where to look.
--
-- Those who wait for the same queues are a group. One of them is its lookout: it looks when something is
-- due, and now and then for what other clients put, as these leave no token. When it goes, another of the
-- group is nudged to take over; when it dies, the others find out by themselves.

-- How long a queue counts as waited for, in milliseconds; renewed when half of it is over. Much longer than
-- anybody blocks at a time, which is some 10 s.
local WAITED_MS = 60000

-- A lookout that is so much later than it said is not there any more.
local LATE_MS = 2000

-- Seconds from one look to the next: half the time for which the group has waited, in these bounds;
-- less where something is due, but not less than SOON_S.
local LEAST_S, MOST_S, SOON_S = 1, 10, 0.001

-- The most queues of one group: Lua can unpack a key of each.
local MOST_QUEUES = 1000

-- The keys of each queue that was named lately, and how many that are: to put a name together costs as much
-- as to look what is there. Those of very long names are not kept.
local known, number_known, MOST_KNOWN, LONG = {}, 0, 5000, 1000

local function keys_of(queue)
  local keys = known[queue]
  if not keys then
    if number_known == MOST_KNOWN then
      known, number_known = {}, 0
    end
    keys = {
      waited = Key.waited(queue),
      work = Key.work(queue),
      throttled = Key.throttled(queue),
      -- Jobs for later; a score is when.
      locks = Key.locks(queue),
      Key.scheduled(queue), Key.recur(queue), Key.cron(queue),
    }
    if #queue <= LONG then
      known[queue], number_known = keys, number_known + 1
    end
  end
  return keys
end

local function is_due(now, key)
  local first = call('zrange', key, 0, 0, 'withscores')[2]
  return first ~= nil and tonumber(first) <= now
end

-- has_more(now, keys) -> whether a pop may find something in a queue. What a throttle keeps back it finds
-- where there is room of which nobody told.
local function has_more(now, keys)
  if call('exists', keys.work, keys.throttled) > 0 or is_due(now, keys.locks) then
    return true
  end
  return call('exists', keys[1], keys[2], keys[3]) > 0
    and (is_due(now, keys[1]) or is_due(now, keys[2]) or is_due(now, keys[3]))
end

-- is_ready(now, keys) -> the same, at one call for a queue that is empty; nil when there is nothing in it for
-- later, either.
local function is_ready(now, keys)
  if call('exists', keys.work, keys.throttled, keys.locks, keys[1], keys[2], keys[3]) == 0 then
    return nil
  end
  return has_more(now, keys)
end

local function is_paused(queue)
  return call('sismember', Key.paused_queues, queue) == 1
end

-- due_in(now, queues, empty) -> seconds until something is due next in one of them; infinite when that is not
-- known. `empty`: those of them that are known to have nothing.
local function due_in(now, queues, empty)
  local soonest = math.huge
  local function look(key)
    local first = call('zrangebyscore', key, Json.after(now), '+inf', 'withscores', 'limit', 0, 1)[2]
    soonest = math.min(soonest, first and tonumber(first) or math.huge)
  end
  for _, queue in ipairs(queues) do
    local keys = keys_of(queue)
    if not empty[queue] and call('exists', keys.locks, keys[1], keys[2], keys[3]) > 0
      and not is_paused(queue) then
      look(keys.locks)
      for _, key in ipairs(keys) do
        look(key)
      end
    end
  end
  return soonest - now
end

-- The server's own clock, in milliseconds: what waiters agree on, whatever clocks they go by.
local function clock()
  local time = call('time')
  return floor(time[1] * 1000 + time[2] / 1000)
end

-- Who looks out for a group: {waiter, at, til, since}, with the moment of the next look, that until which the
-- queues count as waited for, and that since which there was nothing to take, all in milliseconds of the
-- server's clock; waiter is '' when nobody does now. nil when nobody of the group waits.
local function lookout_in(stored)
  local at, til, since, waiter = string.match(stored or '', '^(%d+) (%d+) (%d+) (.*)$')
  return at and { waiter = waiter, at = tonumber(at), til = tonumber(til), since = tonumber(since) }
end

local function lookout_of(group)
  return lookout_in(call('mget', Key.lookout(group))[1])
end

local function set_lookout(group, waiter, at, til, since)
  call('set', Key.lookout(group), string.format('%.0f %.0f %.0f %s', at, til, since, waiter), 'px', WAITED_MS)
end

-- Whether somebody else looks out, and is there still.
local function is_kept(lookout, waiter, ms)
  return lookout and lookout.waiter ~= '' and lookout.waiter ~= waiter and ms <= lookout.at + LATE_MS
end

-- The queues count as waited for, for some time from now; marks stay.
local function mark(queues)
  for _, queue in ipairs(queues) do
    local key = keys_of(queue).waited
    if not call('set', key, '0', 'nx', 'px', WAITED_MS) then
      call('pexpire', key, WAITED_MS)
    end
  end
end

-- keep(group, waiter, queues, lookout, ms, soon, is_busy) -> the seconds after which this waiter is to look
-- again: it is the lookout now. `soon`: until something is due; `is_busy`: there was something.
local function keep(group, waiter, queues, lookout, ms, soon, is_busy)
  local since = not is_busy and lookout and lookout.since > 0 and lookout.since or ms
  local again = math.min(math.max((ms - since) / 2000, LEAST_S), MOST_S)
  again = math.max(math.min(again, soon), SOON_S)
  local til = lookout and lookout.til or 0
  if til < ms + WAITED_MS / 2 then
    til = ms + WAITED_MS
    mark(queues)
  end
  set_lookout(group, waiter, ms + math.ceil(again * 1000), til, since)
  return again
end

-- The lookout of a group goes: the next one that waits takes over.
local function release(group, lookout)
  set_lookout(group, '', 0, lookout.til, 0)
  Queue.wake(Key.nudge(group))
end

-- marks_of(queues, group) -> for each queue '1', '0', or false when nobody waits for it; and the lookout.
local function marks_of(queues, group)
  local keys = {}
  for i, queue in ipairs(queues) do
    keys[i] = keys_of(queue).waited
  end
  keys[#keys + 1] = Key.lookout(group)
  local found = call('mget', unpack(keys))
  return found, lookout_in(found[#keys])
end

-- There is nothing to take from a queue; its mark says so from now on.
local function unmark(queue, was)
  if was == '1' then
    call('set', keys_of(queue).waited, '0', 'xx', 'keepttl')
  end
end

-- hand_on(wait, from): this waiter has jobs out of a queue, and goes. If there is more to take, there or
-- in a later queue, another one is woken; those before have nothing.
local function hand_on(wait, from)
  local now, queues, marks = wait.now, wait.queues, wait.marks
  for i = from, #queues do
    if marks[i] and (i == from or marks[i] == '1') then
      if has_more(now, keys_of(queues[i])) and not is_paused(queues[i]) then
        Queue.rouse(queues[i])
      else
        unmark(queues[i], marks[i])
      end
    end
  end
  local lookout = wait.lookout
  if not lookout or lookout.waiter == '' then
    return
  elseif lookout.waiter == wait.waiter then
    release(wait.group, lookout)
  elseif clock() + due_in(now, { queues[from] }, {}) * 1000 < lookout.at then
    Queue.rouse(queues[from]) -- a recurring job, say, is due again before the lookout looks
  end
end

-- pop, but nobody is told of what becomes work in it: that is seen to when it is over.
local function pop(wait, queue)
  Call.told = queue
  local ok, reply = pcall(Commands['pop'], wait.now, { queue, wait.worker, wait.count })
  Call.told = nil
  if not ok then
    error(reply, 0)
  end
  return reply
end

-- take(wait, is_wanted) -> the JSON of jobs out of the first queue that gives some, of those whose mark is
-- wanted; nil when none does. Others are woken for what is left.
local function take(wait, is_wanted)
  for i, queue in ipairs(wait.queues) do
    local mark = wait.marks[i]
    if is_wanted(mark) then
      -- One that is marked has something, but for a race that was lost.
      local ready = mark == '1' or is_ready(wait.now, keys_of(queue))
      local jobs = ready and pop(wait, queue) or '[]'
      if jobs ~= '[]' then
        hand_on(wait, i)
        return jobs
      end
      if Call.unfinished then
        Call.unfinished = nil
        wait.unfinished[#wait.unfinished + 1] = queue
      end
      wait.empty[queue] = ready == nil
      if mark == '1' and not has_more(wait.now, keys_of(queue)) then
        unmark(queue, mark)
      end
    end
  end
  return nil
end

local function any() return true end
local function marked(mark) return mark ~= '0' end
local function unmarked(mark) return mark == '0' end

-- Those of the queues that were marked.
local function marked_ones(wait)
  local found = {}
  for i, queue in ipairs(wait.queues) do
    if marked(wait.marks[i]) then
      found[#found + 1] = queue
    end
  end
  return found
end

-- Takes the tokens away that lie in store: whoever takes them away has looked.
local function take_tokens(group, queues)
  local keys = { Key.nudge(group) }
  for i, queue in ipairs(queues) do
    keys[i + 1] = Key.wake(queue)
  end
  call('del', unpack(keys))
end

-- go_on(wait, has_blocked) -> jobs as JSON, or nil and the seconds until the next look of a lookout. There
-- was nothing where it was looked; who has to be the lookout now looks everywhere.
local function go_on(wait, has_blocked)
  local now, queues, group = wait.now, wait.queues, wait.group
  local lookout, ms = wait.lookout, clock()
  if is_kept(lookout, wait.waiter, ms) then
    local soon = due_in(now, has_blocked and marked_ones(wait) or queues, wait.empty)
    if lookout.at <= ms + math.max(soon, SOON_S) * 1000 then
      if lookout.til < ms + WAITED_MS / 2 then
        mark(queues)
        set_lookout(group, lookout.waiter, lookout.at, ms + WAITED_MS, lookout.since)
      end
      return nil
    end
  end
  local jobs = has_blocked and take(wait, unmarked)
  if jobs then
    return jobs
  end
  return nil, keep(group, wait.waiter, queues, lookout, ms, due_in(now, queues, wait.empty))
end

-- The queues that are named from an argument on.
local function queues_from(arg, from)
  local queues = Check.names(arg, from, 'queue')
  if #queues > MOST_QUEUES then
    Check.must('queues', 'at most ' .. MOST_QUEUES .. ' names', '' .. #queues)
  end
  return queues
end

-- wait.pop worker count waiter group where queue... -> JSON {"jobs": list, "again": seconds or null, "now": n}.
-- `jobs`: what `pop` takes out of the first of the queues that gives something. When none does, this waiter
-- is to block on the `-wake` keys of the queues and the `ql:nudge:` keys of the group and of itself with
-- BZPOPMIN, for 12 seconds at most, and to call again after that. When `again` is a number, it is the
-- lookout of its group, too: so many seconds from now it is to call `wait.look`, while it blocks. `waiter`
-- is a name that nobody else has who waits, or empty for one who will not; `group` is one that all have who
-- wait for these queues. `where` is `all`, or, for one who has blocked, `marked`: it looks only where there
-- may be something. `now` is the moment of the call, as with `turn`.
-- Publishes: as pop.
Commands['wait.pop'] = function(now, arg)
  local wait = {
    now = now,
    worker = Check.name(arg[1], 'worker'),
    count = Check.count(arg[2], 'count'),
    waiter = Check.text(arg[3], 'waiter'),
    group = Check.name(arg[4], 'group'),
    empty = {},
    unfinished = {},
  }
  local where = arg[5] or ''
  if where ~= 'all' and where ~= 'marked' then
    Check.must('where', 'all or marked', where)
  end
  wait.queues = queues_from(arg, 6)
  wait.marks, wait.lookout = marks_of(wait.queues, wait.group)
  local jobs, again = take(wait, where == 'all' and any or marked), nil
  if not jobs then
    Worker.seen(wait.worker, now)
  end
  if not jobs and wait.waiter ~= '' then
    if where == 'all' then
      take_tokens(wait.group, wait.queues)
    end
    jobs, again = go_on(wait, where == 'marked')
    for _, queue in ipairs(wait.unfinished) do
      Queue.rouse(queue) -- there may be something behind what was passed over
    end
  end
  return '{"jobs":' .. (jobs or '[]') .. ',"again":' .. (again and Json.number(again) or 'null')
    .. ',"now":' .. Call.now .. '}'
end

-- wait.look waiter group queue... -> seconds after which the lookout is to call this again, as text; nil
-- when it is the lookout no more. Where there is something to take, one of those who wait is woken.
Commands['wait.look'] = function(now, arg)
  local waiter = Check.name(arg[1], 'waiter')
  local group = Check.name(arg[2], 'group')
  local queues = queues_from(arg, 3)
  local lookout, ms = lookout_of(group), clock()
  if is_kept(lookout, waiter, ms) then
    return nil
  end
  local is_busy, empty = false, {}
  for _, queue in ipairs(queues) do
    local ready = is_ready(now, keys_of(queue))
    empty[queue] = ready == nil
    if ready and not is_paused(queue) then
      is_busy = true
      Queue.rouse(queue)
    end
  end
  return Json.number(keep(group, waiter, queues, lookout, ms, due_in(now, queues, empty), is_busy))
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
