-- A running job goes back to waiting before its time: its worker stops, or is dead.

-- The most jobs that giveback.all looks at in one call, so that it holds the server for milliseconds only.
local MOST = 500

-- How many items of a history are looked through for the last `put`, the newest first.
local NEWEST = 20

-- When a job was put, as an item of its history says; nil when it says something else.
local function put_at(item)
  return item and tonumber(string.match(item, '^%[(%d+)[%d.]*,"put"[,%]]'))
end

-- Since when a job is in line: since it was put last, in whole seconds, or as far back as its history
-- tells. So it is not behind those that came while it was in the wrong hands.
local function in_line_since(now, jid)
  local key = Key.history(jid)
  local items = call('lrange', key, -NEWEST, -1)
  for i = #items, 1, -1 do
    local at = put_at(items[i])
    if at then
      return math.min(at, now)
    end
  end
  return math.min(put_at(call('lindex', key, 0)) or now, now)
end

-- What is known of a running job of the worker, as `retry` reads it; refuses any other.
local function held(jid, worker)
  local known = call('hmget', Key.job(jid), 'state', 'worker', 'queue', 'priority', 'remaining', 'history',
    'throttles', 'retries')
  Check.owned(jid, worker, known)
  Check.placed(jid, known[3])
  return known
end

-- No retry is left: the job fails, where everybody sees it. Answers its failure.
local function exhaust(now, jid, queue, back)
  local group, message = Failures.exhausted(queue)
  local failure = Failures.make(now, back.group or group, back.message or message,
    back.message and back.worker or '')
  Failures.record(now, jid, queue, false, failure, false)
  return failure
end

-- to_line(now, jid, known, remaining, failed, back): back to where the job stood in its queue. One that took its
-- worker with it waits first, as `drop-backoff` says of jobs whose lock was lost.
local function to_line(now, jid, known, remaining, failed, back)
  local queue = known[3]
  local wait = failed and Limits.backoff(remaining, Check.finite(known[8]) or 0) or 0
  local state = 'waiting'
  if wait > 0 then
    state = Queue.enter(now, queue, jid, 0, wait, false)
  else
    Queue.to_work(queue, jid, Check.finite(known[4]) or 0, in_line_since(now, jid))
  end
  call('hmset', Key.job(jid), 'state', state, 'worker', '', 'expires', '0', 'remaining',
    Json.stored(remaining))
  if failed and back.message then
    call('hset', Key.job(jid), 'failure', Failures.make(now, back.group, back.message, back.worker).json)
  end
end

-- What the history says of a job that was given back: whether it had begun, so that its runs can be told.
local function item_of(ran, details)
  local rest = string.match(details, '^{%s*(.*)$')
  return '{"ran":' .. (ran and 'true' or 'false') .. (rest == '}' and '' or ',') .. rest
end

-- give_back(now, jid, known, ran, back) -> the retries left, or -1 when there were none and the job failed
-- instead. `back` is what the arguments say: worker, what, details, group, message.
local function give_back(now, jid, known, ran, back)
  local queue = known[3]
  local remaining = Check.remaining(known[5]) - (ran and 1 or 0)
  local failed = ran and back.group
  History.push(jid, known[6], History.item(now, encode(back.what), item_of(ran, back.details)))
  local failure
  if ran and remaining < 0 then
    failure = exhaust(now, jid, queue, back)
    call('hset', Key.job(jid), 'remaining', remaining)
  else
    to_line(now, jid, known, remaining, failed, back)
  end
  call('zrem', Key.locks(queue), jid)
  call('zrem', Key.worker_jobs(back.worker), jid)
  call('hdel', Key.job(jid), 'grace')
  if known[7] then
    Throttle.release(now, jid, known[7], queue, 'running')
  end
  if failed and Config.text('host-max-failures') then
    Limits.failed(now, jid, back.worker)
  end
  if failure then
    Events.if_tracked('failed', jid)
    Events.failed(jid, failure, encode(back.worker))
    return -1
  end
  return remaining
end

-- The failure that a job counts as; nil where it is nobody's fault.
local function group_of(text)
  return text ~= '' and text or nil
end

local function prefetch()
  Config.prefetch('max-job-history', 'max-failure-message', 'host-max-failures', 'drop-backoff')
end

-- giveback jid worker ran what details group? message? -> the retries left, or -1 when there were none and
-- the job failed instead. A running job goes back to waiting at once, at the place in line that it had when
-- it was put; nobody holds it any more. `ran` is 0 for a job that was not begun, which loses no retry, or 1
-- for one that was, which loses one. `what` and `details`, a JSON object, are what its history says of it,
-- with `ran`, true or false.
-- Of a job that ran, a `group` says that it failed: then it counts for its host, waits first where
-- `drop-backoff` is set, and with a `message` keeps both in `failure`; without a retry left it fails with
-- these, or as with `retry`. An empty `group` says that it is nobody's fault, and the `message` is for a job
-- that had no retry left.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING, LOCK_LOST.
-- Publishes: when exhausted, failed for a tracked job, then failed to the log. Ours.
Commands['giveback'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local back = { worker = Check.name(arg[2], 'worker') }
  local ran = arg[3]
  if ran ~= '0' and ran ~= '1' then
    Check.must('ran', '0 or 1', ran)
  end
  back.what = Check.name(arg[4], 'what')
  back.details = Check.object(arg[5], 'details')
  back.group, back.message = group_of(arg[6]), arg[7]
  local known = held(jid, back.worker)
  prefetch()
  return give_back(now, jid, known, ran == '1', back)
end

-- The jids that a worker held, those that it had begun first: when a lock ran out, only its own word tells
-- of it.
local function of_worker(worker, started)
  local jids, met = {}, {}
  local function add(jid)
    if not met[jid] and #jids < MOST then
      met[jid] = true
      jids[#jids + 1] = jid
    end
  end
  for _, jid in ipairs(started) do
    add(jid)
  end
  for _, jid in ipairs(call('zrange', Key.worker_jobs(worker), 0, MOST - 1)) do
    add(jid)
  end
  return jids
end

-- giveback.all worker what details started group? message? -> JSON {"given": [jid], "failed": [jid]}. All jobs
-- that a worker holds go back, as `giveback` has it: those of the JSON list `started` with a retry lost, the
-- others without. What it does not hold any more is passed over. At most MOST a call: to be called until
-- both are empty.
-- Publishes: as giveback. Ours.
Commands['giveback.all'] = function(now, arg)
  local back = {
    worker = Check.name(arg[1], 'worker'),
    what = Check.name(arg[2], 'what'),
    details = Check.object(arg[3], 'details'),
    group = group_of(arg[5]),
    message = arg[6],
  }
  local started = Check.strings(arg[4], 'started')
  local ran = {}
  for _, jid in ipairs(started) do
    ran[jid] = true
  end
  prefetch()
  local given, failed = {}, {}
  for _, jid in ipairs(of_worker(back.worker, started)) do
    local ok, known = pcall(held, jid, back.worker)
    if not ok then
      call('zrem', Key.worker_jobs(back.worker), jid) -- it was lost, or something else lies under its key
    elseif Job.is_whole(jid) then
      local left = give_back(now, jid, known, ran[jid] or false, back)
      local to = ran[jid] and left < 0 and failed or given
      to[#to + 1] = jid
    end
  end
  return '{"given":' .. Json.list(given) .. ',"failed":' .. Json.list(failed) .. '}'
end
