-- Failed jobs: recorded in one place, listed by group, taken back.

-- The stored message is cut in the middle beyond `max-failure-message` bytes: both ends of a
-- traceback tell something.
local function capped(message)
  local limit = floor(Config.number('max-failure-message'))
  if limit <= 0 or #message <= limit then
    return message
  end
  local head, tail, bytes = Check.ends(message, limit)
  return head .. '\n[... ' .. bytes .. ' bytes cut ...]\n' .. tail
end

-- Failures.make(now, group, message, worker) -> a failure: `name`, the group; `group`, `message` as it is
-- stored and `worker`, as JSON; and `json`, the text of a job's `failure` field.
function Failures.make(now, group, message, worker)
  local failure = { name = group, group = encode(group), message = encode(capped(message)),
    worker = encode(worker) }
  failure.json = '{"group":' .. failure.group .. ',"message":' .. failure.message .. ',"when":'
    .. Json.second(now) .. ',"worker":' .. failure.worker .. '}'
  return failure
end

-- A group that had no jobs is listed; where that cannot be, it has none again.
local function list_group(group)
  local ok, problem = pcall(call, 'sadd', Key.failures, group)
  if not ok then
    call('lpop', Key.failed(group))
    error(problem, 0)
  end
end

-- Failures.record(now, jid, queue, legacy, failure, by_worker, data): the only place where a job becomes
-- failed. `legacy` is its old history field; the history names the worker of the failure with `by_worker`;
-- `data`, its new data or nil.
-- Takes nothing out of the queue and publishes nothing: the callers differ in that.
function Failures.record(now, jid, queue, legacy, failure, by_worker, data)
  local key = Key.job(jid)
  local worker = by_worker and '"worker":' .. failure.worker .. ',' or ''
  History.push(jid, legacy,
    History.item(now, '"failed"', '{' .. worker .. '"group":' .. failure.group .. '}'))
  if call('lpush', Key.failed(failure.name), jid) == 1 then
    list_group(failure.name)
  end
  if data then
    call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure.json,
      'data', data)
  else
    call('hmset', key, 'state', 'failed', 'worker', '', 'expires', '', 'failure', failure.json)
  end
  Stats.count(queue, now, 'failures', 'failed')
end

-- Failures.exhausted(queue) -> group and message of a job that has no retries left.
function Failures.exhausted(queue)
  return 'failed-retries-' .. queue, 'Job exhausted retries in queue "' .. queue .. '"'
end

-- How many jids of one call are looked for one by one; for the others there is one pass.
local MANY = 8

-- How far beside a jid that was found the others of the call are expected.
local NEAR = 250

-- Puts '', which is no jid, in the place of those jids of a part of the list that the set `unwanted` has,
-- and takes them off that set. Answers how many, and how long the part is.
local function blank(key, unwanted, first, last)
  local number = 0
  local jids = call('lrange', key, first, last)
  for i, jid in ipairs(jids) do
    if unwanted[jid] then
      unwanted[jid] = nil
      call('lset', key, first + i - 1, '')
      number = number + 1
    end
  end
  return number, #jids
end

-- Takes jids out of the middle of a group: blanked where they are, then the blanks removed. So what stays
-- is not written again, and Redis itself passes over it. `jids` is a list, `unwanted` the same as a set.
local function sift(key, jids, unwanted)
  local blanks, looks = 0, 0
  for i = #jids, 1, -1 do
    if looks == MANY then
      break
    elseif unwanted[jids[i]] then
      looks = looks + 1
      local at = call('lpos', key, jids[i], 'rank', -1)
      if at then
        blanks = blanks + blank(key, unwanted, math.max(at - NEAR, 0), at + NEAR)
      end
      unwanted[jids[i]] = nil
    end
  end
  local depth = 0
  while next(unwanted) do
    local number, length = blank(key, unwanted, depth, depth + 499)
    if length == 0 then
      break
    end
    blanks = blanks + number
    depth = depth + length
  end
  if blanks > 0 then
    call('lrem', key, depth > 0 and blanks or -blanks, '')
  end
end

-- Failures.remove(group, jids): out of the group's list. Those at its ends, where pages and bulk
-- work begin, cost nothing; those in the middle are looked for.
function Failures.remove(group, jids)
  local key = Key.failed(group)
  local middle, unwanted = {}, {}
  for _, jid in ipairs(jids) do
    if call('lindex', key, 0) == jid then
      call('lpop', key)
    elseif call('lindex', key, -1) == jid then
      call('rpop', key)
    elseif not unwanted[jid] then
      unwanted[jid] = true
      middle[#middle + 1] = jid
    end
  end
  sift(key, middle, unwanted)
  if call('exists', key) == 0 then
    call('srem', Key.failures, group)
  end
end

-- Failures.group(failure) -> the group that a stored `failure` field names, or nil.
function Failures.group(failure)
  local group = Json.object(failure).group
  return type(group) == 'string' and group or nil
end

-- Failures.forget(jid, failure, queue, listed): a failed job is failed no more. `failure` is its
-- stored field, `queue` where it failed: that is where the `failed` statistic counted it. With
-- `listed` it stays on the list of its group, for a caller who takes off many at once.
function Failures.forget(jid, failure, queue, listed)
  local known = Json.object(failure)
  if not listed and type(known.group) == 'string' then
    Failures.remove(known.group, { jid })
  end
  if type(known.when) == 'number' and queue and queue ~= '' then
    Stats.uncount_failed(queue, known.when)
  end
end

-- failed -> JSON {group: count}. failed group start? limit? -> JSON {total, jobs}; a limit of 0 from the
-- beginning is all. Reads only.
Commands['failed'] = function(_, arg)
  local group = arg[1]
  if not group then
    local parts = {}
    for i, name in ipairs(call('smembers', Key.failures)) do
      parts[i] = encode(name) .. ':' .. call('llen', Key.failed(name))
    end
    return '{' .. table.concat(parts, ',') .. '}'
  end
  local start = Check.count(arg[2], 'start', 0)
  local limit = Check.count(arg[3], 'limit', 25)
  local jids = call('lrange', Key.failed(group), start, Check.stop(start, limit))
  return '{"total":' .. call('llen', Key.failed(group)) .. ',"jobs":' .. Json.list(jids) .. '}'
end

-- The most that one unfail moves, so that it holds the server for milliseconds only.
local UNFAIL_CHUNK = 500

-- The most entries that one unfail drops because their jobs are gone, on its way to others.
local MOST_GONE = 20000

-- Puts one job of a group back to work, if it failed in no other since; answers whether it did.
local function take_back(now, jid, group, queue)
  local was = Put.known(jid)
  if was.state ~= 'failed' or (Failures.group(was.failure) or group) ~= group then
    return false
  end
  Put.again(now, was, queue, true)
  return true
end

-- Takes back those of a list, the last first; answers how many, and adds to `kept` those that have
-- something else under a key of theirs: such a job costs no other.
local function take_all_back(now, jids, group, queue, kept)
  local moved = 0
  for i = #jids, 1, -1 do
    local ok, done = pcall(take_back, now, jids[i], group, queue)
    if not ok and Job.is_whole(jids[i]) then
      error(done, 0) -- not for this job's sake
    elseif not ok then
      kept[#kept + 1] = jids[i]
    elseif done then
      moved = moved + 1
    end
  end
  return moved
end

-- unfail queue group count? -> how many jobs went back to work in that queue, oldest first; at most
-- UNFAIL_CHUNK a call. Jobs that are gone or no longer failed are dropped from the group; those with
-- something else under a key of theirs stay there.
-- Publishes put for each, to the log and for tracked ones.
Commands['unfail'] = function(now, arg)
  local queue = Check.name(arg[1], 'queue')
  local group = Check.text(arg[2], 'group')
  local count = math.min(Check.count(arg[3], 'count', 25), UNFAIL_CHUNK)
  local key = Key.failed(group)
  Check.memory()
  local moved, looked_at = 0, 0
  local kept = {} -- they lie at the end of the list, the oldest last
  while moved < count and looked_at - moved < MOST_GONE do
    local stay = #kept
    local jids = call('lrange', key, moved - count - stay, -stay - 1)
    if #jids == 0 then
      break
    end
    moved = moved + take_all_back(now, jids, group, queue, kept)
    call('ltrim', key, 0, -#jids - stay - 1)
    for i = #kept, 1, -1 do
      call('rpush', key, kept[i])
    end
    looked_at = looked_at + #jids
  end
  if call('exists', key) == 0 then
    call('srem', Key.failures, group)
  end
  return moved
end
