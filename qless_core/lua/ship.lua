-- Jobs that go to another shard, that is to another qless: first a job is taken away here, all that it had
-- kept under its jid in a hash; then it arrives there, where the name of its journey is kept; then both forget.
-- Whoever dies in between, the journey can be gone on with: what has arrived does not arrive again.

local LEAVING, ARRIVED = Key.shards('leaving'), Key.shards('arrived')

-- The states in which nobody holds a job and no other waits for it, or it for others.
local FREE = { waiting = true, scheduled = true, throttled = true, failed = true }

-- cmsgpack's text is no UTF-8, which is what clients read replies as.
local function spelled(all)
  return (string.gsub(cmsgpack.pack(all), '.', function(letter)
    return string.format('%02x', string.byte(letter))
  end))
end

local function unspelled(text)
  return cmsgpack.unpack((string.gsub(text, '%x%x', function(pair)
    return string.char(tonumber(pair, 16))
  end)))
end

-- What a job takes along; nil, and why it stays.
local function luggage(now, jid)
  local was, why = Whole.known(jid)
  if not was then
    return nil, why
  end
  local seen = Job.seen_state(now, jid, was.state or '', was.queue)
  if not FREE[seen] or not FREE[was.state] then
    return nil, seen
  elseif call('exists', Key.dependents(jid)) == 1 then
    return nil, 'dependents'
  end
  local all = Whole.of(jid, was)
  all.throttles = {} -- there it is kept back by what is there, or not
  return all
end

-- The same of a recurring job of either kind.
local function recurring_luggage(jid)
  for _, kind in ipairs({ 'recur', 'cron' }) do
    local key = kind == 'recur' and Key.recurring(jid) or Key.cron_job(jid)
    local queue = call('hget', key, 'queue')
    if queue then
      return { what = kind, queue = queue, fields = call('hgetall', key),
        score = Whole.score(Key[kind](queue), jid), planned = Whole.score(Key.crons, jid),
        runs = kind == 'cron' and call('zrange', Key.cron_runs(jid), 0, -1) or {} }
    end
  end
  return nil
end

-- shard.leave journey jid -> JSON {"luggage": text} of what is to arrive; or {"stays": why}: the state that the
-- job is in, `gone`, `unreadable`, or `dependents` when others wait for it. A recurring job goes, too.
-- Publishes: as `cancel`.
Commands['shard.leave'] = function(now, arg)
  local journey = Check.name(arg[1], 'journey')
  local jid = Check.name(arg[2], 'jid')
  local all, why = luggage(now, jid)
  if not all and why == 'gone' then
    all = recurring_luggage(jid)
  end
  if not all then
    return '{"stays":' .. encode(why) .. '}'
  end
  local text = spelled(all)
  call('hset', LEAVING, jid, journey .. ' ' .. text)
  if all.what == 'job' then
    Commands['cancel'](now, { jid })
  else
    Commands['unrecur'](now, { jid })
  end
  return '{"luggage":' .. encode(text) .. '}'
end

-- What the luggage of each kind has: lists of texts, and texts.
local LISTS = { job = { 'fields', 'history', 'dependencies', 'dependents', 'tags' },
  recur = { 'fields', 'runs' }, cron = { 'fields', 'runs' } }
local TEXTS = { job = { 'score', 'tracked' }, recur = { 'queue', 'score', 'planned' },
  cron = { 'queue', 'score', 'planned' } }
local SCORES = { score = true, tracked = true, planned = true }

local function is_number(text)
  return Check.finite(text) ~= nil
end

local function has_lists(all)
  for _, name in ipairs(LISTS[all.what]) do
    if type(all[name]) ~= 'table' then
      return false
    end
    for _, text in ipairs(all[name]) do
      if type(text) ~= 'string' or (name == 'runs' and not is_number(text)) then
        return false
      end
    end
  end
  return #all.fields % 2 == 0 and (all.what ~= 'job' or #all.tags % 2 == 0)
end

-- Whether this is what shard.leave tells of the job of that jid.
local function is_luggage(all, jid)
  if type(all) ~= 'table' or not LISTS[all.what] or not has_lists(all) then
    return false
  end
  for _, name in ipairs(TEXTS[all.what]) do
    local text = all[name]
    if type(text) ~= 'string' or (SCORES[name] and text ~= '' and not is_number(text)) then
      return false
    end
  end
  for i = 1, #all.fields, 2 do
    if all.fields[i] == 'jid' then
      return all.fields[i + 1] == jid and all.queue ~= ''
    end
  end
  return false
end

-- Where a job stood in its queue is told by a score; one that was kept back waits, for the next pop to see.
local function settled(now, all)
  for i = 1, #all.fields, 2 do
    if all.fields[i] == 'state' and all.fields[i + 1] == 'throttled' then
      all.fields[i + 1] = 'waiting'
      all.score = Queue.score(0, now)
    end
  end
  return all
end

local function recurs_again(now, jid, all)
  local key = all.what == 'recur' and Key.recurring(jid) or Key.cron_job(jid)
  if recurring_luggage(jid) then
    return 'exists'
  end
  call('zadd', Key[all.what](all.queue), all.score ~= '' and all.score or now, jid)
  for _, moment in ipairs(all.runs) do
    call('zadd', Key.cron_runs(jid), moment, moment)
  end
  if all.what == 'cron' then
    call('zadd', Key.crons, all.planned ~= '' and all.planned or now, jid)
  end
  for i = 1, #all.fields, 2 do
    call('hset', key, all.fields[i], all.fields[i + 1])
  end
  Queue.remember(all.queue, now)
  return nil
end

local function is_leaving(journey, jid)
  local left = call('hget', LEAVING, jid)
  return left and string.sub(left, 1, #journey + 1) == journey .. ' '
end

-- shard.arrive journey jid luggage -> `arrived`; `known` when it had; or why it cannot: `exists`, `unreadable`.
-- Where it left it may arrive, too: then it has come back, and its journey is forgotten.
-- Publishes: as `put`, or `fail` for a failed job.
Commands['shard.arrive'] = function(now, arg)
  local journey = Check.name(arg[1], 'journey')
  local jid = Check.name(arg[2], 'jid')
  local ok, all = pcall(unspelled, Check.text(arg[3], 'luggage'))
  if not ok or not is_luggage(all, jid) then
    Check.must('luggage', 'what shard.leave told', arg[3])
  end
  if call('hexists', ARRIVED, journey) == 1 then
    return 'known'
  end
  local why
  all.throttles = {}
  if all.what == 'job' then
    why = Whole.back(now, jid, settled(now, all))
  else
    why = recurs_again(now, jid, all)
  end
  if why then
    return why
  elseif is_leaving(journey, jid) then -- it has come back
    call('hdel', LEAVING, jid)
  else
    call('hset', ARRIVED, journey, Json.second(now))
  end
  return 'arrived'
end

-- shard.settle journey jid -> 1, or 0 where nothing was known of it: forgets a journey that is over. First
-- said where the job left, then where it arrived.
Commands['shard.settle'] = function(_, arg)
  local journey = Check.name(arg[1], 'journey')
  local jid = Check.name(arg[2], 'jid')
  if is_leaving(journey, jid) then
    return call('hdel', LEAVING, jid)
  end
  return call('hdel', ARRIVED, journey)
end

-- shard.leaving count -> JSON [[journey, jid, luggage]]: some of the jobs that left and have not arrived yet, as far
-- as anybody said. At most 100. Reads only.
Commands['shard.leaving'] = function(_, arg)
  local count = math.min(Check.count(arg[1], 'count'), 100)
  local found = call('hscan', LEAVING, '0', 'count', count)[2]
  local rows = {}
  for i = 1, #found, 2 do
    local journey, text = string.match(found[i + 1], '^(%S+) (.*)$')
    rows[#rows + 1] = Json.list({ journey, found[i], text })
  end
  return Json.join(rows)
end
