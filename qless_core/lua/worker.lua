-- Which workers are there, and what each one holds.

-- How many workers that were not seen for long are forgotten in passing, at most.
local CHUNK = 20

-- Forgets those who gave no sign of life for long, but this one.
local function forget_silent(worker, now)
  local before = now - Config.number('max-worker-age')
  for _, old in ipairs(call('zrangebyscore', Key.workers, '-inf', before, 'limit', 0, CHUNK)) do
    if old ~= worker then
      call('zrem', Key.workers, old)
      call('del', Key.worker_jobs(old), Key.worker_info(old), Key.worker_asked(old))
    end
  end
end

-- Worker.seen(worker, now): notes a sign of life. The first one of a worker is the occasion to forget
-- those who gave none for long: so they do not grow in number, and what happens often costs nothing.
function Worker.seen(worker, now)
  if call('zadd', Key.workers, Call.now, worker) == 1 then
    forget_silent(worker, now)
  end
end

-- workers -> JSON list of {name, jobs, stalled}, most recent first.
-- workers worker -> JSON {jobs: [jid], stalled: [jid]}.
-- Those not seen for `max-worker-age` seconds are left out. At the very moment that a lock ends it is
-- among both, as the original has it. Reads only.
Commands['workers'] = function(now, arg)
  local before = now - Config.number('max-worker-age')
  local name = arg[1]
  if name then
    local seen = call('zscore', Key.workers, Check.name(name, 'worker'))
    if seen and tonumber(seen) <= before then
      return '{"jobs":[],"stalled":[]}'
    end
    local key = Key.worker_jobs(name)
    return '{"jobs":' .. Json.list(call('zrevrangebyscore', key, '+inf', Call.now))
      .. ',"stalled":' .. Json.list(call('zrevrangebyscore', key, now, '-inf')) .. '}'
  end
  local all = {}
  local names = call('zrevrangebyscore', Key.workers, '+inf', Json.after(before))
  for i, worker in ipairs(names) do
    local key = Key.worker_jobs(worker)
    all[i] = '{"name":' .. encode(worker)
      .. ',"jobs":' .. call('zcount', key, Call.now, '+inf')
      .. ',"stalled":' .. call('zcount', key, '-inf', now) .. '}'
  end
  return Json.join(all)
end

-- Drops what a worker's set names but the worker no longer runs; what it runs stays, for whoever
-- wants to see where it is.
local function tidy(worker)
  local key = Key.worker_jobs(worker)
  for _, jid in ipairs(call('zrange', key, 0, -1)) do
    local known = call('hmget', Key.job(jid), 'state', 'worker')
    if known[1] ~= 'running' or known[2] ~= worker then
      call('zrem', key, jid)
    end
  end
end

-- worker.deregister worker... -> nil. Off the list until they are heard of again; what they told of
-- themselves, and were asked, is forgotten.
Commands['worker.deregister'] = function(_, arg)
  for _, worker in ipairs(Check.names(arg, 1, 'worker')) do
    call('zrem', Key.workers, worker)
    call('del', Key.worker_info(worker), Key.worker_asked(worker))
    tidy(worker)
  end
  return nil
end

-- What a worker may be asked, and the state of one that obeys.
local OBEYED = { stop = 'stopping', pause = 'paused', resume = 'running' }

-- For how many seconds a request waits for its worker.
local ASKED_S = 300

-- The bounds of the time, in seconds, for which is kept what a worker tells of itself.
local LEAST_KEPT_S, MOST_KEPT_S = 60, 1e9

-- The most children of one worker.
local MOST_CHILDREN = 1000

-- When a process started, by its own word, as text: another one of the same name started at another time.
local function started_of(told)
  local started = told.started
  return type(started) == 'number' and string.format('%.17g', started) or ''
end

-- The names of the children that a worker tells of.
local function children_of(told)
  local names = {}
  if type(told.children) == 'table' then
    for i = 1, math.min(#told.children, MOST_CHILDREN) do
      local child = told.children[i]
      if type(child) == 'table' and type(child.name) == 'string' then
        names[#names + 1] = child.name
      end
    end
  end
  return names
end

-- What a worker is asked still: nothing once it obeys, and nothing that another process was asked.
local function request_to(worker, told, stored)
  if not stored then
    return nil
  end
  local request, started = string.match(stored, '^(%l+) (.*)$')
  if not request or started ~= started_of(told) or OBEYED[request] == told.state then
    call('del', Key.worker_asked(worker))
    return nil
  end
  return request
end

-- worker.beat worker info -> what the worker is asked to do: stop, pause or resume; nil for nothing. A sign
-- of life of a process, every few seconds, whether it asks for jobs or not. `info` is what it tells of
-- itself, a JSON object, kept as it is until the worker was silent for `max-worker-age`. Of that the script
-- reads `started`, epoch seconds; `state`, one of running, paused, stopping; and of its `children` each
-- `name`: those that are on the list of workers count as seen, too. A request is answered until `state` says
-- that it is obeyed, so none is lost with a reply. Some that were silent for long are forgotten. Ours.
Commands['worker.beat'] = function(now, arg)
  local worker = Check.name(arg[1], 'worker')
  local info = Check.object(arg[2], 'info')
  local told = Json.object(info)
  local asked = call('get', Key.worker_asked(worker))
  local kept = math.min(math.max(math.ceil(Config.number('max-worker-age')), LEAST_KEPT_S), MOST_KEPT_S)
  call('set', Key.worker_info(worker), info, 'ex', string.format('%.0f', kept))
  call('zadd', Key.workers, Call.now, worker)
  for _, child in ipairs(children_of(told)) do
    call('zadd', Key.workers, 'XX', Call.now, child)
  end
  forget_silent(worker, now)
  return request_to(worker, told, asked)
end

-- worker.ask worker request -> nil. Asks a worker to stop (when its jobs are done), to pause (it takes no more)
-- or to resume. It hears of that with its next beat; the last request counts, for ASKED_S seconds. Only the
-- process that is there now is meant, not one that comes after it under the same name.
-- Refuses: WORKER_NOT_FOUND, when no worker of that name tells of itself, as children and other clients do
-- not. Ours.
Commands['worker.ask'] = function(_, arg)
  local worker = Check.name(arg[1], 'worker')
  local request = arg[2]
  if not request or not OBEYED[request] then
    Check.must('request', 'stop, pause or resume', request)
  end
  local info = call('get', Key.worker_info(worker))
  if not info then
    Check.refuse('WORKER_NOT_FOUND', 'Worker ' .. worker .. ' is not known, or takes no requests')
  end
  call('set', Key.worker_asked(worker), request .. ' ' .. started_of(Json.object(info)), 'ex', ASKED_S)
  return nil
end

-- A text that may be there; nil where something else lies under its key.
local function stored_text(key)
  local ok, text = pcall(call, 'get', key)
  return ok and text or nil
end

-- worker.info worker... -> JSON list of {name, seen, asked, info}: when each was seen last, epoch seconds, or
-- null; what it is asked to do, or null; and what it tells of itself, or null. Reads only. Ours.
Commands['worker.info'] = function(_, arg)
  local all = {}
  for i, worker in ipairs(Check.names(arg, 1, 'worker')) do
    local info, asked = stored_text(Key.worker_info(worker)), stored_text(Key.worker_asked(worker))
    local ok, told = Json.read(info)
    if not ok or type(told) ~= 'table' or not Json.is_strict(info) then
      info = nil
    end
    local request = asked and info and string.match(asked, '^(%l+) (.*)$')
    if request and asked ~= request .. ' ' .. started_of(told) then
      request = nil
    end
    local seen = call('zscore', Key.workers, worker)
    all[i] = '{"name":' .. encode(worker) .. ',"seen":' .. (seen and Json.number(tonumber(seen)) or 'null')
      .. ',"asked":' .. (request and encode(request) or 'null') .. ',"info":' .. (info or 'null') .. '}'
  end
  return Json.join(all)
end
