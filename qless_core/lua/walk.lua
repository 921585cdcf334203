-- Walking all jobs of a list, however long, a bounded stretch at a time, while others change it.

-- The most jobs of one stretch: a millisecond of the server's time.
local MOST = 1000

-- Walk.after(key, command, score, jid) -> the rank, in the order of `command`, behind an entry that was met.
-- Where the entry has left or moved, it is where it would be, but before all of the same score: some
-- may be met again, none is passed over.
function Walk.after(key, command, score, jid)
  local now = call('zscore', key, jid)
  if now and tonumber(now) == tonumber(score) then
    return call(command == 'zrange' and 'zrank' or 'zrevrank', key, jid) + 1
  elseif command == 'zrange' then
    return call('zcount', key, '-inf', '(' .. score)
  end
  return call('zcount', key, '(' .. score, '+inf')
end

-- A score as Redis tells it: jobs timed out by hand stand at the very end of their set.
local function bound(value, name)
  if value == 'inf' or value == '-inf' then
    return value
  end
  -- Written anew: a blank before a number is none to Redis.
  return string.format('%.17g', Check.number(value, name))
end

local function passed(key, now)
  return call('zcount', key, '-inf', now)
end

-- The lists: name -> function(name of the queue or tag, now) -> key, order, and the ranks between which
-- it lies. Without ranks all of the key.
local Lists = {}

function Lists.waiting(queue)
  return Key.work(queue), 'zrevrange'
end

function Lists.due(queue, now)
  local key = Key.scheduled(queue)
  return key, 'zrange', 0, passed(key, now)
end

function Lists.scheduled(queue, now)
  local key = Key.scheduled(queue)
  return key, 'zrange', passed(key, now)
end

function Lists.running(queue, now)
  local key = Key.locks(queue)
  return key, 'zrange', passed(key, now)
end

function Lists.stalled(queue, now)
  local key = Key.locks(queue)
  return key, 'zrange', 0, passed(key, now)
end

function Lists.depends(queue)
  return Key.depends(queue), 'zrange'
end

function Lists.throttled(queue)
  return Key.throttled(queue), 'zrange'
end

function Lists.recurring(queue)
  return Key.recur(queue), 'zrange'
end

function Lists.cron(queue)
  return Key.cron(queue), 'zrange'
end

function Lists.complete()
  return Key.completed, 'zrange'
end

function Lists.tag(tag)
  return Key.tag(tag), 'zrange'
end

-- jobs.walk list name count [score jid] -> [jid, score, jid, score...], at most count of them and at most
-- MOST: the next ones behind the one that was met last, all from the beginning without one. Reads only.
-- Lists of the queue `name`: waiting, due (scheduled, and their time has come), scheduled, running,
-- stalled (their lock ran out), depends, throttled, recurring (by interval), cron. Of no queue, with name
-- '': complete, the oldest first; with the name of a tag: tag.
Commands['jobs.walk'] = function(now, arg)
  local list = Lists[arg[1] or '']
  if not list then
    Check.must('list', 'waiting, due, scheduled, running, stalled, depends, throttled, recurring, '
      .. 'cron, complete or tag', arg[1])
  end
  local name = Check.text(arg[2], 'name')
  local count = math.min(Check.count(arg[3], 'count'), MOST)
  local score = arg[4] and bound(arg[4], 'score')
  local jid = score and Check.text(arg[5], 'jid')
  local key, command, first, stop = list(name, now)
  first, stop = first or 0, stop or math.huge
  if score then
    first = math.max(first, Walk.after(key, command, score, jid))
  end
  stop = math.min(first + count, stop)
  if first >= stop then
    return {}
  end
  return call(command, key, first, stop - 1, 'withscores')
end
