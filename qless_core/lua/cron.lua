-- Jobs that come back when a cron expression says so. Lua can read neither the expression nor a time
-- zone: whoever defines such a job sends its next runs, and clients in passing send the ones after those
-- (`cron.due`, `cron.refill`). They wait in a set of their own: in that of `recur` the original script
-- would stumble over them. spawn.lua makes the children; recurring.lua has what both kinds share.

-- The most runs that one call plans.
local MOST_RUNS = 10000

-- The most members that one ZADD is given.
local CHUNK = 1000

-- Cron.runs(value) -> list of moments, from text that is a JSON list of whole seconds, each later than
-- the one before; at least one.
function Cron.runs(value)
  local ok, runs = Json.read(value)
  local before = -1
  local fits = ok and type(runs) == 'table' and #runs > 0 and #runs <= MOST_RUNS
  for _, run in ipairs(fits and runs or {}) do
    fits = fits and type(run) == 'number' and run % 1 == 0 and run > before and run <= LATEST
    before = fits and run or LATEST
  end
  if not fits then
    Check.must('runs', 'a JSON list of whole seconds, each later than the one before', value)
  end
  return runs
end

-- Cron.known(jid) -> what decides how a cron job is defined again, or nil when there is none. `planned`
-- is the last run that was ever planned, `made` the last one whose child was made or passed over.
function Cron.known(jid)
  local known = call('hmget', Key.cron_job(jid), 'queue', 'count', 'cron', 'timezone', 'planned', 'made')
  if not known[1] then
    return nil
  end
  return {
    queue = known[1],
    count = known[2],
    cron = known[3],
    timezone = known[4],
    planned = Check.finite(known[5]),
    made = Check.finite(known[6]) or -math.huge,
  }
end

-- When a plan is to be extended: when half of what lies ahead is over.
local function half_time(now, runs)
  local first = 1
  while runs[first] and runs[first] <= now do
    first = first + 1
  end
  return runs[first] and runs[floor((first + #runs) / 2)] or now
end

local function add_runs(jid, runs)
  for from = 1, #runs, CHUNK do
    local args = {}
    for i = from, math.min(from + CHUNK - 1, #runs) do
      args[#args + 1] = runs[i]
      args[#args + 1] = Json.number(runs[i])
    end
    call('zadd', Key.cron_runs(jid), unpack(args))
  end
end

-- Cron.wait(jid, queue): stands in its queue for its first planned run; where none is left, or it is
-- paused, for ever. What falls due while it is paused is passed over.
function Cron.wait(jid, queue)
  local is_held = call('hexists', Key.cron_job(jid), 'held') == 1
  local first = not is_held and call('zrange', Key.cron_runs(jid), 0, 0)[1]
  call('zadd', Key.cron(queue), first or '+inf', jid)
  if is_held then
    call('zremrangebyscore', Key.cron_runs(jid), '-inf', Call.now)
  end
  Queue.tell(queue)
end

-- Cron.fresh(now, was, expression, timezone, runs) -> what a definition plans: those of its runs that may
-- still be made. What was owed by now stays owed, and nothing is made twice, even when a clock
-- steps back. nil when the plan is to stay as it is: the same definition, whose plan has run out, is
-- owed what follows it, which `cron.refill` brings.
function Cron.fresh(now, was, expression, timezone, runs)
  if not was then
    return runs, -math.huge
  end
  local since = math.max(now, was.made)
  local is_same = was.cron == expression and was.timezone == timezone and was.planned
  if is_same and was.planned <= now then
    return nil
  end
  local fresh = {}
  for _, run in ipairs(runs) do
    if run > since then
      fresh[#fresh + 1] = run
    end
  end
  if #fresh > 0 then
    return fresh, since
  elseif is_same then
    return nil
  end
  Check.refuse('BAD_ARGUMENT', 'argument "runs" must hold one to come, after ' .. Json.number(since), 1)
end

-- Cron.replace(now, jid, fresh, since): the plan from a moment on is this one.
function Cron.replace(now, jid, fresh, since)
  call('zadd', Key.crons, half_time(now, fresh), jid)
  if since > -math.huge then
    call('zremrangebyscore', Key.cron_runs(jid), Json.after(since), '+inf')
  end
  add_runs(jid, fresh)
end

-- Cron.forget(jid, queue): nothing of it is left but its children.
function Cron.forget(jid, queue)
  call('del', Key.cron_job(jid), Key.cron_runs(jid))
  call('zrem', Key.cron(queue), jid)
  call('zrem', Key.crons, jid)
end

-- cron queue jid klass data expression timezone runs
--   [priority p, tags json, retries n, backlog n, throttles json]... -> jid.
-- `runs` are the next ones, whole seconds. Doing it again updates, moves the queue, resets the options
-- that are not given, and keeps the count of children and what is owed; the runs to come are
-- replaced. A job of that jid that recurs by interval becomes this one, with its count.
-- Refuses: BAD_ARGUMENT, and then nothing is changed.
Commands['cron'] = function(now, arg)
  local queue = Check.name(arg[1], 'queue')
  local jid = Check.name(arg[2], 'jid')
  local klass = Check.text(arg[3], 'klass')
  local data = Check.json(arg[4], 'data')
  local expression = Check.name(arg[5], 'expression')
  local timezone = Check.name(arg[6], 'timezone')
  local runs = Cron.runs(arg[7])
  local options = Spawn.options(arg, 8)

  local was = Cron.known(jid)
  local fresh, since = Cron.fresh(now, was, expression, timezone, runs)
  local other = not was and call('hmget', Key.recurring(jid), 'queue', 'count') or {}
  local count = was and was.count or other[2]
  if fresh then
    Cron.replace(now, jid, fresh, since)
  end
  Cron.wait(jid, queue)
  call('hmset', Key.cron_job(jid), 'jid', jid, 'klass', klass, 'data', data, 'state', 'recur',
    'queue', queue, 'type', 'cron', 'cron', expression, 'timezone', timezone,
    'priority', options.priority, 'tags', Json.list(options.tags), 'retries', options.retries,
    'backlog', options.backlog, 'count', Check.finite(count) or 0,
    'planned', fresh and fresh[#fresh] or was.planned)
  if #options.throttles > 0 or was then
    call('hset', Key.cron_job(jid), 'throttles', Throttle.moved(options.throttles, nil, queue))
  end
  if was and was.queue ~= queue then
    call('zrem', Key.cron(was.queue), jid)
  elseif other[1] then
    call('zrem', Key.recur(other[1]), jid)
    call('del', Key.recurring(jid))
  end
  Queue.remember(queue, now)
  return jid
end

local function due(jid)
  local ok, known = pcall(call, 'hmget', Key.cron_job(jid), 'cron', 'timezone', 'planned', 'backlog')
  local planned = ok and Check.finite(known[3])
  if not planned or not known[1] or not known[2] then
    return nil
  end
  return '{"jid":' .. encode(jid) .. ',"cron":' .. encode(known[1])
    .. ',"timezone":' .. encode(known[2]) .. ',"planned":' .. Json.number(planned)
    .. ',"backlog":' .. Json.number(Check.finite(known[4]) or 0) .. '}'
end

-- cron.due count? (100) offset? (0) -> JSON {"now": seconds, "jobs": [{jid, cron, timezone, planned,
-- backlog}], "seen": n}: the cron jobs whose plan is to be extended, from `planned` on, the last run that it
-- has; and how many were looked at. Those that nobody extends stay where they are: whoever cannot goes on
-- behind them. Reads only.
Commands['cron.due'] = function(now, arg)
  local count = Check.count(arg[1], 'count', 100)
  local offset = Check.count(arg[2], 'offset', 0)
  local jobs = {}
  local jids = call('zrangebyscore', Key.crons, '-inf', now, 'limit', offset, count)
  for _, jid in ipairs(jids) do
    jobs[#jobs + 1] = due(jid)
  end
  return '{"now":' .. Json.number(now) .. ',"jobs":' .. Json.join(jobs) .. ',"seen":' .. #jids .. '}'
end

-- cron.refill jid expression timezone planned runs -> 1, or 0 when the cron job is not as `cron.due`
-- told it: another client was faster, or it was changed or ended. `runs` follow `planned`.
-- Refuses: BAD_ARGUMENT.
Commands['cron.refill'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local expression = Check.name(arg[2], 'expression')
  local timezone = Check.name(arg[3], 'timezone')
  local planned = Check.number(arg[4], 'planned')
  local runs = Cron.runs(arg[5])
  if runs[1] <= planned then
    Check.must('runs', 'moments after ' .. Json.number(planned), arg[5])
  end
  local was = Cron.known(jid)
  if not was or was.cron ~= expression or was.timezone ~= timezone or was.planned ~= planned then
    return 0
  end
  call('hset', Key.cron_job(jid), 'planned', runs[#runs])
  Cron.replace(now, jid, runs, -math.huge)
  Cron.wait(jid, was.queue)
  return 1
end
