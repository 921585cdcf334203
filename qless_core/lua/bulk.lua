-- Work on many jobs in one call. Each job is looked at in the moment of acting, and one that is not
-- as the caller saw it is left alone and named: one bad job never stops the rest. Commands of our
-- own, beside those of the field; the caller keeps the calls short.

-- Whether a state is among those that are wanted, a list with commas between; '' is any.
local function is_wanted(wanted, state)
  return wanted == '' or string.find(',' .. wanted .. ',', ',' .. state .. ',', 1, true) ~= nil
end

-- look(now, group, jid, wanted) -> what Put.known knows of the job, with the `group` that it has failed
-- in, if it has; or nil and why it is left out: `gone`, the state it is in, `group` when it failed
-- in another one, or `unreadable` when something else lies under its key.
local function look(now, group, jid, wanted)
  local ok, was = pcall(Put.known, jid)
  if not ok then
    return nil, 'unreadable'
  elseif not was.jid then
    return nil, 'gone'
  end
  local state = was.state or ''
  local seen = Job.seen_state(now, jid, state, was.queue)
  if not is_wanted(wanted, seen) and not is_wanted(wanted, state) then
    return nil, seen
  end
  was.group = state == 'failed' and Failures.group(was.failure) or nil
  if group ~= '' and was.group ~= group then
    return nil, state == 'failed' and 'group' or seen
  end
  return was
end

-- wanted_jobs(arg, from) -> list of {jid, wanted states}, each jid once.
local function wanted_jobs(arg, from)
  if #arg < from or (#arg - from) % 2 == 0 then
    Check.refuse('BAD_ARGUMENT', 'arguments after "' .. (arg[from - 1] or '')
      .. '" must be pairs of jid and states, got ' .. math.max(#arg - from + 1, 0), 1)
  end
  local jobs = {}
  local met = {}
  for i = from, #arg, 2 do
    local jid = Check.name(arg[i], 'jid')
    if not met[jid] then
      met[jid] = true
      jobs[#jobs + 1] = { jid, arg[i + 1] }
    end
  end
  return jobs
end

-- A group may list jobs whose data went another way; they are nothing to act on, and leave it here.
local function drop_ghosts(group, left, touched)
  local ghosts = {}
  for jid, why in pairs(left) do
    if why == 'gone' then
      ghosts[#ghosts + 1] = jid
    end
  end
  if group ~= '' and #ghosts > 0 then
    Failures.remove(group, ghosts)
    touched[group] = true
  end
end

-- The reply of what acts: {"done": [jid], "left": {jid: why}, "emptied": [group]}. `touched` has the
-- groups that jobs left.
local function report(done, left, touched)
  local parts = {}
  for jid, why in pairs(left) do
    parts[#parts + 1] = encode(jid) .. ':' .. encode(why)
  end
  local emptied = {}
  for group in pairs(touched) do
    if call('exists', Key.failed(group)) == 0 then
      emptied[#emptied + 1] = group
    end
  end
  return '{"done":' .. Json.list(done) .. ',"left":{' .. table.concat(parts, ',') .. '},"emptied":'
    .. Json.list(emptied) .. '}'
end

-- bulk.move group queue [jid states]... -> JSON {"done": [jid], "left": {jid: why}, "emptied":
-- [group]}, the failure groups that are empty now.
-- Puts jobs to work in a queue, or, where it is '', each into its own; data, priority and tags stay,
-- retries are renewed. With a group only jobs that failed in it; states as in `look`. A job that
-- is in no queue is left out as `nowhere`, one with something else under a key of it as `unreadable`;
-- one that is gone is off the group's list afterwards.
-- Publishes: put, lock_lost; put for a tracked job.
Commands['bulk.move'] = function(now, arg)
  local group = Check.text(arg[1], 'group')
  local queue = Check.text(arg[2], 'queue')
  local found, done, left, members = {}, {}, {}, {}
  for _, pair in ipairs(wanted_jobs(arg, 3)) do
    local was, why = look(now, group, pair[1], pair[2])
    if was and not Job.is_whole(pair[1]) then
      was, why = nil, 'unreadable'
    end
    local target = queue ~= '' and queue or (was and was.queue) or ''
    if was and target ~= '' then
      found[#found + 1] = { was, target }
    else
      left[pair[1]] = why or 'nowhere'
    end
  end
  for i, job in ipairs(found) do
    local was = job[1]
    done[i] = was.jid
    Put.again(now, was, job[2], false)
    if was.group then
      members[was.group] = members[was.group] or {}
      table.insert(members[was.group], was.jid)
    end
  end
  for name, jids in pairs(members) do
    Failures.remove(name, jids)
  end
  drop_ghosts(group, left, members)
  return report(done, left, members)
end

-- Leaves out the jobs that somebody waits for who stays, and those that these wait for in turn.
local function spare_needed(chosen, left)
  local spared = {}
  for jid in pairs(chosen) do
    if #Dependencies.waiting_for(jid, chosen, 1) > 0 then
      spared[#spared + 1] = jid
    end
  end
  while #spared > 0 do
    local jid = table.remove(spared)
    if chosen[jid] then
      chosen[jid] = nil
      left[jid] = 'dependents'
      local ok, others = pcall(call, 'smembers', Key.dependencies(jid))
      for _, other in ipairs(ok and others or {}) do
        spared[#spared + 1] = other
      end
    end
  end
end

-- bulk.cancel group [jid states]... -> JSON {"done": [jid], "left": {jid: why}, "emptied": [group]}.
-- Removes jobs for good, but complete ones (`complete`) and those that others, not removed here,
-- wait for (`dependents`). With a group only jobs that failed in it; states as in `look`; those
-- that are gone are off the group's list afterwards.
-- Publishes: canceled to the log, to the worker, and for a tracked job.
Commands['bulk.cancel'] = function(now, arg)
  local group = Check.text(arg[1], 'group')
  local jobs = wanted_jobs(arg, 2)
  local chosen, left, touched = {}, {}, {}
  for _, pair in ipairs(jobs) do
    local was, why = look(now, group, pair[1], pair[2])
    if not was then
      left[pair[1]] = why
    elseif was.state == 'complete' then
      left[pair[1]] = 'complete'
    else
      chosen[pair[1]] = true
      if was.group then
        touched[was.group] = true
      end
    end
  end
  spare_needed(chosen, left)
  local done = {}
  for _, pair in ipairs(jobs) do
    if chosen[pair[1]] then
      done[#done + 1] = pair[1]
    end
  end
  if #done > 0 then
    Commands['cancel'](now, done)
  end
  drop_ghosts(group, left, touched)
  return report(done, left, touched)
end

-- The jobs of bulk.put, as the arguments of a `put` each.
local function read_puts(arg)
  local me = Check.text(arg[1], 'me')
  local queue = Check.name(arg[2], 'queue')
  local first = Check.count(arg[3], 'first')
  local puts = {}
  local at = 4
  while at <= #arg do
    local number = Check.count(arg[at + 4], 'options')
    local last = at + 4 + number
    if number % 2 == 1 or last > #arg then
      Check.must('options', 'how many arguments of options follow', arg[at + 4])
    end
    local put = { me, queue, arg[at], arg[at + 1], arg[at + 2], arg[at + 3] }
    for i = at + 5, last do
      put[#put + 1] = arg[i]
    end
    puts[#puts + 1] = put
    at = last + 1
  end
  if #puts == 0 then
    Check.must('jid', 'a name', nil)
  end
  return puts, first
end

-- Looks at a job that is to be put, as `put` will: answers what its arguments say. `names` has the jids
-- of the call.
local function check_put(put, names)
  local job = Put.read(put)
  Put.refuse_taken(job.jid, false, names)
  return job
end

-- A job that wants what it waits for may wait for one that the call puts before it.
local function refuse_missing_within(job, placed)
  local others = {}
  for _, other in ipairs(job.depends) do
    if not placed[other] then
      others[#others + 1] = other
    end
  end
  Dependencies.refuse_missing(job.jid, others)
end

-- What else there is to say against a job, knowing those of the call before it.
local function check_within(job, waits, placed)
  if job.strict then
    refuse_missing_within(job, placed)
  end
  if waits[job.jid] then
    Dependencies.refuse_ring(job.jid, job.depends, waits)
  end
end

-- Looks at all jobs before any is put; answers what their arguments say. A refusal says which one it is
-- of, counted from `first`.
local function check_puts(puts, first)
  local jobs, names, waits, placed = {}, {}, {}, {}
  for _, put in ipairs(puts) do
    names[put[3] or ''] = true
  end
  for i, put in ipairs(puts) do
    local ok, found = pcall(check_put, put, names)
    jobs[i] = found
    if ok and #found.depends > 0 then
      waits[found.jid] = found.depends
    end
    if ok then
      placed[found.jid] = true
      ok, found = pcall(check_within, found, waits, placed)
    end
    if not ok then
      if type(found) == 'table' and found.sentence then
        found.sentence = 'job ' .. (first + i - 1) .. ': ' .. found.sentence
      end
      error(found, 0)
    end
  end
  return jobs
end

-- bulk.put me queue first [jid klass data delay options [option value]...]... -> list of the jids.
-- `options` says how many arguments of options follow, as of `put`. The jobs are put one after another,
-- so that one may wait for an earlier one; all are checked before the first is put, and a refusal says
-- which job it is of, the first of the call having the number `first`.
-- Refuses: BAD_ARGUMENT, also for a dependency on itself or in a ring.
-- Publishes: as put.
Commands['bulk.put'] = function(now, arg)
  local puts, first = read_puts(arg)
  local jids = {}
  for i, job in ipairs(check_puts(puts, first)) do
    jids[i] = Put.write(now, job, false)
  end
  return jids
end

-- The jobs of bulk.complete, as the arguments of a `complete` each.
local function read_completes(arg)
  local worker = Check.name(arg[1], 'worker')
  local to = Check.text(arg[2], 'next')
  local delay = Check.number(arg[3], 'delay')
  if to == '' and delay ~= 0 then
    Check.refuse('BAD_ARGUMENT', 'argument "delay" makes no sense without "next"', 1)
  end
  local jobs = {}
  for i = 4, math.max(#arg, 6), 3 do
    local job = { Check.name(arg[i], 'jid'), worker, Check.name(arg[i + 1], 'queue'),
      Check.json(arg[i + 2], 'data') }
    if to ~= '' then
      job[5], job[6], job[7], job[8] = 'next', to, 'delay', delay
    end
    jobs[#jobs + 1] = job
  end
  return jobs
end

-- Why `complete` refused a job, in a word; nil when it broke for another reason.
local function why_refused(jid, refusal)
  if type(refusal) ~= 'table' or not refusal.code then
    return not Job.is_whole(jid) and 'unreadable' or nil
  elseif refusal.code == 'JOB_NOT_FOUND' then
    return 'gone'
  elseif refusal.code == 'JOB_NOT_RUNNING' then
    return call('hget', Key.job(jid), 'state') or 'gone'
  elseif refusal.code == 'LOCK_LOST' then
    return string.find(refusal.sentence, 'another queue', 1, true) and 'queue' or 'worker'
  end
  return nil
end

-- bulk.complete worker next delay [jid queue data]... -> JSON {"done": [jid], "left": {jid: why},
-- "emptied": []}. Finishes jobs that a worker holds, or with `next` hands them to that queue, as
-- `complete` does; '' is none. One that cannot be finished is left out: `gone`, the state it is in,
-- `worker` when another one holds it, `queue` when it runs in another one, or `unreadable`.
-- Publishes: as complete.
Commands['bulk.complete'] = function(now, arg)
  local done, left = {}, {}
  for _, job in ipairs(read_completes(arg)) do
    local ok, refusal = pcall(Commands['complete'], now, job)
    if ok then
      done[#done + 1] = job[1]
    else
      local why = why_refused(job[1], refusal)
      if not why then
        error(refusal, 0)
      end
      left[job[1]] = why
    end
  end
  return report(done, left, {})
end

-- complete.pop from count jid worker queue data [next q, delay n, depends json]... -> JSON {"state":
-- the state of the job now, "jobs": [job]}. Finishes a job as `complete` does, and takes up to `count`
-- jobs from the queue `from` for the same worker, as `pop` does, in one call.
-- Refuses: as complete; then nothing is taken.
-- Publishes: as complete, then as pop.
Commands['complete.pop'] = function(now, arg)
  local from = Check.name(arg[1], 'from')
  local count = Check.count(arg[2], 'count')
  local state = Commands['complete'](now, Check.rest(arg, 3))
  -- The job is done, whatever there is in the queue: what keeps a pop from it, the next one tells.
  local ok, jobs = pcall(Commands['pop'], now, { from, arg[4], count })
  return '{"state":' .. encode(state) .. ',"jobs":' .. (ok and jobs or '[]') .. '}'
end

-- The most jobs that one look along the dependents finds.
local CLOSURE = 10000

local function involved(now, jid)
  local known = call('hmget', Key.job(jid), 'klass', 'state', 'queue', 'worker')
  return '{"jid":' .. encode(jid) .. ',"klass":' .. encode(known[1] or '')
    .. ',"state":' .. encode(Job.seen_state(now, jid, known[2] or '', known[3]))
    .. ',"queue":' .. encode(known[3] or '') .. ',"worker":' .. encode(known[4] or '') .. '}'
end

-- bulk.closure jid... -> JSON {"jobs": [{jid, klass, state, queue, worker}], "missing": [jid],
-- "more": boolean}: the jobs and all that wait for them, through whomever, each after those that
-- wait for it; at most CLOSURE. Reads only. Without recursion, and a ring ends it too.
Commands['bulk.closure'] = function(now, arg)
  local met, jobs, missing = {}, {}, {}
  local number = 0
  local stack = {}
  local names = Check.names(arg, 1, 'jid')
  for i = #names, 1, -1 do
    local ok, is_there = pcall(call, 'hexists', Key.job(names[i]), 'jid')
    if ok and is_there == 1 then
      stack[#stack + 1] = { names[i] }
    else
      missing[#missing + 1] = names[i]
    end
  end
  while #stack > 0 do
    local top = stack[#stack]
    if not top.opened and (met[top[1]] or number >= CLOSURE) then
      table.remove(stack)
    elseif not top.opened then
      top.opened = true
      met[top[1]] = true
      number = number + 1
      local others = Dependencies.waiting_for(top[1], met, CLOSURE)
      table.sort(others)
      for _, other in ipairs(others) do
        stack[#stack + 1] = { other }
      end
    else
      table.remove(stack)
      jobs[#jobs + 1] = involved(now, top[1])
    end
  end
  return '{"jobs":' .. Json.join(jobs) .. ',"missing":' .. Json.list(missing)
    .. ',"more":' .. (number >= CLOSURE and 'true' or 'false') .. '}'
end

-- bulk.states group start count -> JSON {state: how many} of the jobs that a failure group lists
-- there, newest first; `gone` for those that are not there any more. Reads only.
Commands['bulk.states'] = function(_, arg)
  local group = Check.text(arg[1], 'group')
  local start = Check.count(arg[2], 'start')
  local count = Check.count(arg[3], 'count')
  local states = {}
  if count > 0 then
    for _, jid in ipairs(call('lrange', Key.failed(group), start, start + count - 1)) do
      local ok, state = pcall(call, 'hget', Key.job(jid), 'state')
      state = ok and (state or 'gone') or 'unreadable'
      states[state] = (states[state] or 0) + 1
    end
  end
  local parts = {}
  for state, number in pairs(states) do
    parts[#parts + 1] = encode(state) .. ':' .. number
  end
  return '{' .. table.concat(parts, ',') .. '}'
end
