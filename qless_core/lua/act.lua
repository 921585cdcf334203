-- Operations of the console: one thing done to a list of jobs that was frozen before. Of an operation its
-- hash says what is to be done and how far it is; its list names the jobs, the first at the end; its report
-- says of each chunk which were left out, and why. A chunk does its jobs and notes that they are done in one
-- call: whoever dies meanwhile, none is done twice and none is forgotten.

local function operation(id, part)
  return Key.web('operation:' .. id .. (part or ''))
end

-- Jobs of which one hash keeps what they were.
local BLOCK = 100

-- The hash that keeps what the jobs of the places from BLOCK * number on were.
local function block(id, number)
  return Key.web('kept:' .. id .. ':' .. number)
end

-- The letters by which a list says in which state a job was.
local LETTERS = { waiting = 'w', running = 'r', stalled = 't', scheduled = 's', depends = 'd',
  throttled = 'h', failed = 'f', complete = 'c' }
local STATES = {}
for state, letter in pairs(LETTERS) do
  STATES[letter] = state
end

local HELD = { running = true, stalled = true }
local REST = { waiting = true, scheduled = true, depends = true, throttled = true, failed = true,
  complete = true }
local OPEN = { waiting = true, scheduled = true, depends = true, throttled = true, failed = true }

-- In which states a job can be acted on; nil: in any.
local FITS = {
  retry = { failed = true },
  move = REST,
  cancel = { waiting = true, scheduled = true, depends = true, throttled = true, failed = true,
    running = true, stalled = true },
  edit = OPEN,
  time_out = { running = true, stalled = true },
}

-- What an operation is, as its hash says: a table of texts, with '' for what is not there; nil where there
-- is none.
local SAID = { 'action', 'state', 'run', 'at', 'total', 'form', 'group', 'before', 'listed', 'queue', 'delay',
  'value', 'tags', 'canary', 'of', 'keep', 'again', 'began', 'lasts', 'reach' }

local function said(id)
  local found = call('hmget', operation(id), unpack(SAID))
  if not found[1] then
    return nil
  end
  local op = { id = id }
  for i, name in ipairs(SAID) do
    op[name] = found[i] or ''
  end
  op.at, op.total = tonumber(op.at) or 0, tonumber(op.total) or 0
  op.before = tonumber(op.before)
  op.mark = '{"group":' .. encode(op.group) .. ','
  return op
end

-- Whether a name fits a pattern, of which `parts` are what stands between its stars, as patterns of Lua; in these the
-- byte 1 stands for those that go on with a character. Nothing is tried twice: names and patterns may be long.
local function is_like(name, parts)
  local last, at = #parts, 1
  for i, part in ipairs(parts) do
    part = (i == 1 and '^' or '') .. string.gsub(part, '\1', '\128-\191') .. (i == last and '$' or '')
    local found, stop = string.find(name, part, at)
    if not found then
      return false
    end
    at = stop + 1
  end
  return true
end

-- Whether whoever asked for an operation may change the jobs of a queue: of all, or of those that `reach` says.
local function is_reached(op, queue)
  if op.reach == '' then
    return true
  end
  op.patterns, op.reached = op.patterns or Json.object(op.reach), op.reached or {}
  if op.reached[queue] == nil then
    op.reached[queue] = false
    for _, parts in ipairs(op.patterns) do
      op.reached[queue] = op.reached[queue] or is_like(queue, parts)
    end
  end
  return op.reached[queue]
end

-- Of a frozen list, the entries from one on, in the order in which they are done. An undone operation goes
-- from its end to its beginning.
local function entries(op, from, count)
  local key = operation(op.id, ':list')
  if op.action == 'undo' then
    return call('lrange', key, from, from + count - 1)
  end
  local found = call('lrange', key, -(from + count), -(from + 1))
  local turned = {}
  for i = #found, 1, -1 do
    turned[#turned + 1] = found[i]
  end
  return turned
end

-- The letter of a job that stays as others wait for it.
local NEEDED = '!'

-- The jid of an entry, and the state that the job was in: nil where it was in none that is known,
-- `dependents` where it was needed. Of jobs that were picked from another list, their place in that.
local function entry(op, text)
  if op.form == 'group' then
    return text, 'failed'
  elseif op.form == 'picked' then
    local index, jid = string.match(text, '^(%d+):(.*)$')
    return jid, tonumber(index)
  end
  local letter = string.sub(text, 1, 1)
  return string.sub(text, 2), letter == NEEDED and 'dependents' or STATES[letter]
end

-- What is stored of a job, of what most actions need; nil, and why there is nothing to act on.
local function known(jid)
  local ok, found = pcall(call, 'hmget', Key.job(jid), 'jid', 'state', 'queue', 'worker', 'priority', 'tags',
    'retries', 'failure', 'history', 'throttles', 'remaining', 'time', 'expires', 'scheduled', 'klass')
  if not ok then
    return nil, 'unreadable'
  elseif not found[1] then
    return nil, 'gone'
  end
  return {
    jid = found[1], state = found[2], queue = found[3], worker = found[4], priority = found[5],
    tags = found[6], retries = found[7], failure = found[8], legacy = found[9], throttles = found[10],
    remaining = found[11], time = found[12], expires = found[13], scheduled = found[14], klass = found[15],
  }
end

-- Those of the tags of an operation that a job has, or has not.
local function tags_of(op, was, has)
  local carried, found = {}, {}
  for _, tag in ipairs(Tags.stored(was.tags)) do
    carried[tag] = true
  end
  for _, tag in ipairs(Json.object(op.tags)) do
    if (carried[tag] or false) == has then
      found[#found + 1] = tag
    end
  end
  return found
end

-- Why there is nothing to do to a job that can be acted on: action -> function(op, jid, was) -> the reason, or
-- nil. Asked when somebody looks, and in the moment of acting.
local Idle = {}

function Idle.priority(op, _, was)
  return Check.finite(was.priority) == Check.finite(op.value) and 'same' or nil
end

function Idle.tag(op, _, was)
  was.due = tags_of(op, was, false)
  return #was.due == 0 and 'same' or nil
end

function Idle.untag(op, _, was)
  was.due = tags_of(op, was, true)
  return #was.due == 0 and 'same' or nil
end

function Idle.time_out(_, _, was)
  return was.state ~= 'running' and was.state or nil
end

function Idle.untrack(_, jid, was)
  was.score = call('zscore', Key.tracked, jid)
  return not was.score and 'untracked' or nil
end

-- Whether a job may have failed only after somebody looked; it tells in which second it failed, and in which moment it
-- was popped last. Where all jobs of the list had failed by then, nothing but to fail anew makes it another failure.
local function is_since(op, when, time)
  if not op.before then
    return false
  elseif op.listed == '' then
    return when + 1 > op.before
  end
  return when > op.before or (tonumber(time) or 0) > op.before
end

local function is_same(state, seen, stored)
  return state == seen or state == stored or (HELD[state] and HELD[seen])
end

-- look(now, op, jid, state) -> what is stored of a job that can be acted on; or nil and why not: `gone`,
-- `unreadable`, `foreign` where it is in a queue that whoever asked may not change, the state that it is in, `group`
-- when it failed in another one, `since` when it failed after somebody looked, `nowhere`, or what there is nothing
-- to do for.
local function look(now, op, jid, state)
  local was, why
  if op.action == 'cancel' then
    was, why = Whole.known(jid)
  else
    was, why = known(jid)
  end
  if why == 'gone' and op.action == 'untrack' and call('zscore', Key.tracked, jid) then
    was, state = { jid = jid }, nil -- also when the job is gone
  end
  if not was then
    return nil, why
  elseif not is_reached(op, was.queue or '') or (op.queue ~= '' and not is_reached(op, op.queue)) then
    return nil, 'foreign'
  elseif state == 'dependents' then
    return nil, state
  end
  local seen = Job.seen_state(now, jid, was.state or '', was.queue)
  local fits = FITS[op.action]
  if (state and not is_same(state, seen, was.state)) or (fits and not fits[seen]) then
    return nil, seen
  end
  if was.state == 'failed' and op.group ~= '' and not op.before and was.failure
    and string.sub(was.failure, 1, #op.mark) == op.mark then
    was.group = op.group -- as we write it; that needs no parser
  elseif was.state == 'failed' and (op.group ~= '' or op.before) then
    local failure = Json.object(was.failure)
    if op.group ~= '' and failure.group ~= op.group then
      return nil, 'group'
    elseif is_since(op, tonumber(failure.when) or 0, was.time) then
      return nil, 'since'
    end
    was.group = failure.group
  end
  if (op.action == 'retry' or op.action == 'move' or op.again ~= '') and op.queue == ''
    and (was.queue or '') == '' then
    return nil, 'nowhere'
  end
  local idle = Idle[op.action]
  local nothing = idle and idle(op, jid, was)
  if nothing then
    return nil, nothing
  end
  return was
end

-- What a chunk has of its own: `groups`, who left which group; `kept`, what jobs were, by jid, and `blocks`, the
-- same by the hash that keeps it; `places` in the list; `left`, why jobs were left alone; `restored`, how many came
-- back; and of those that are to be removed the jids, `doomed`, and the same as a set, `going`. And what is the same
-- for many jobs, so that it is made once: `time`, the moment as a job has it; `tracks`, whether any job is tracked,
-- and `tracked`, which of those that are looked at now; `alone`, whether none of these waits for another one, or is
-- waited for; `heads` of what is kept; `queues` that jobs are in or go to.
local function chunk_of(now, op)
  return { now = now, op = op, groups = {}, kept = {}, blocks = {}, bytes = 0, places = {}, left = {}, doomed = {},
    going = {}, time = Json.time(now), tracks = call('exists', Key.tracked) == 1, tracked = {}, alone = false,
    heads = {}, queues = {}, restored = 0, plain = {} }
end

local function left_group(chunk, group, jid)
  if type(group) == 'string' then
    local jids = chunk.groups[group] or {}
    chunk.groups[group] = jids
    jids[#jids + 1] = jid
  end
end

-- What a list shows of a job that is kept, before what the script needs to bring it back.
local function keep(chunk, jid, was, what)
  local klass, queue, state = was.klass or '', was.queue or '', was.state or ''
  local told = klass .. '\n' .. queue .. '\n' .. state
  local head = chunk.heads[told]
  if not head or head.klass ~= klass or head.queue ~= queue then
    head = { klass = klass, queue = queue, text = '{"klass":' .. encode(klass) .. ',"queue":' .. encode(queue)
      .. ',"state":' .. encode(state) .. '}\n' }
    chunk.heads[told] = head
  end
  chunk.kept[jid] = head.text .. cmsgpack.pack(what)
end

-- Puts what a job was into the hash that belongs to its place.
local function put_away(chunk, index, jid, text)
  local number = floor(index / BLOCK)
  local fields = chunk.blocks[number]
  if not fields then
    fields = {}
    chunk.blocks[number] = fields
  end
  local at = #fields
  fields[at + 1], fields[at + 2] = jid, text
  chunk.bytes = chunk.bytes + #jid + #text
end

-- What brings a job back to where it was, when it was put elsewhere.
local function place_kept(chunk, jid, was)
  return { what = 'place', state = was.state or '', queue = was.queue or '', worker = was.worker,
    remaining = was.remaining, time = was.time, expires = was.expires, failure = was.failure,
    throttles = was.throttles or '[]', scheduled = was.scheduled, score = Whole.score(Whole.place(was), jid),
    placed = chunk.time }
end

-- Puts a job to work.
local function put(chunk, jid, was)
  local op = chunk.op
  local group = was.group or (was.state == 'failed' and Failures.group(was.failure)) or nil
  Put.place(chunk.now, jid, was, {
    queue = op.queue ~= '' and op.queue or was.queue,
    priority = Check.finite(was.priority) or 0,
    retries = Check.finite(was.retries) or 5,
    delay = tonumber(op.delay) or 0,
    me = '',
    fields = {},
    listed = true,
  })
  left_group(chunk, group, jid)
end

-- Verbs: action -> function(chunk, jid, was, given) -> nil, or why it was not done.
local Verbs = {}

function Verbs.move(chunk, jid, was)
  local back = place_kept(chunk, jid, was)
  put(chunk, jid, was)
  keep(chunk, jid, was, back)
end

Verbs.retry = Verbs.move

-- Removes those that are doomed, all at once, which costs half; where one cannot be removed, each by itself.
local function remove_doomed(chunk)
  local jids = chunk.doomed
  if #jids == 0 or pcall(Commands['cancel'], chunk.now, jids) then
    chunk.doomed, chunk.going = {}, {}
    return
  end
  for _, jid in ipairs(jids) do
    if call('exists', Key.job(jid)) == 1 and not pcall(Commands['cancel'], chunk.now, { jid }) then
      chunk.kept[jid] = nil
      chunk.left[chunk.places[jid]] = 'unreadable'
    end
  end
  chunk.doomed, chunk.going = {}, {}
end

-- Jobs that are removed at once.
local DOOMED = 16

function Verbs.cancel(chunk, jid, was)
  if call('exists', Key.dependents(jid)) == 1 and #Dependencies.waiting_for(jid, chunk.going, 1) > 0 then
    return 'dependents'
  end
  keep(chunk, jid, was, Whole.of(jid, was))
  chunk.going[jid] = true
  table.insert(chunk.doomed, jid)
  if #chunk.doomed == DOOMED then
    remove_doomed(chunk)
  end
  return nil
end

function Verbs.priority(chunk, jid, was)
  local priority = chunk.op.value
  Commands['priority'](chunk.now, { jid, priority })
  keep(chunk, jid, was, { what = 'priority', old = was.priority or '0', new = priority })
end

local function tag(now, how, jid, tags)
  Commands['tag'](now, { how, jid, unpack(tags) })
end

function Verbs.tag(chunk, jid, was)
  tag(chunk.now, 'add', jid, was.due)
  keep(chunk, jid, was, { what = 'tag', tags = was.due })
end

function Verbs.untag(chunk, jid, was)
  tag(chunk.now, 'remove', jid, was.due)
  keep(chunk, jid, was, { what = 'untag', tags = was.due })
end

function Verbs.time_out(chunk, jid)
  Commands['timeout'](chunk.now, { jid })
end

function Verbs.untrack(chunk, jid, was)
  Commands['track'](chunk.now, { 'untrack', jid })
  keep(chunk, jid, was, { what = 'untrack', score = was.score })
end

-- `given` is the data as the caller read it, and as it is to be; without, nothing is to be changed.
function Verbs.edit(chunk, jid, was, given)
  local old = call('hget', Key.job(jid), 'data') or ''
  if not given then
    return 'data'
  elseif old ~= given[1] then
    return 'changed'
  end
  local again = chunk.op.again ~= '' and was.state == 'failed'
  local place = again and place_kept(chunk, jid, was) or nil
  call('hset', Key.job(jid), 'data', given[2])
  if again then
    put(chunk, jid, was)
  end
  keep(chunk, jid, was, { what = 'data', old = old, new = redis.sha1hex(given[2]), place = place })
end

-- What is kept of a plain job begins with one of these.
local PLACE, JOB = 'place', 'job'

-- What is kept of a job, by name: of a plain one it is a list.
local function named(kept)
  if kept[1] == PLACE then
    return { what = PLACE, state = 'failed', queue = kept[2], worker = kept[3], remaining = kept[4], time = kept[5],
      expires = kept[6], failure = kept[7], scheduled = kept[8], placed = kept[9], throttles = '[]', score = '' }
  elseif kept[1] == JOB then
    return { what = JOB, history = kept[2], tags = kept[3], score = kept[4], fields = kept[5], dependencies = {},
      dependents = {}, throttles = {}, tracked = '' }
  end
  return kept
end

-- Undoing

local Undo = { job = Whole.back }

-- The fields that a put wrote, as they were before.
local function write_again(jid, back)
  for _, name in ipairs({ 'state', 'queue', 'worker', 'remaining', 'time', 'expires', 'failure',
    'scheduled' }) do
    if not back[name] then
      call('hdel', Key.job(jid), name)
    else
      call('hset', Key.job(jid), name, back[name])
    end
  end
end

-- Back to where it was before it was put to work, unless something happened to it since.
function Undo.place(now, jid, back)
  local is, why = known(jid)
  if not is then
    return why
  elseif is.time ~= back.placed or not REST[is.state] or is.state == 'failed' or is.state == 'complete' then
    return is.state ~= '' and Job.seen_state(now, jid, is.state or '', is.queue) or 'changed'
  end
  if back.state == 'throttled' then -- the next pop keeps it back again
    back.state, back.score = 'waiting', ''
  end
  History.push(jid, is.legacy, History.item(now, '"undone"'))
  if back.state == 'waiting' and back.score == '' then
    back.score = Queue.score(Check.finite(is.priority) or 0, now)
  end
  local entered = Whole.stand(now, jid, back)
  local failure = back.state == 'failed' and Whole.fail_again(jid, back.queue, back.failure)
  write_again(jid, back)
  if (is.queue or '') ~= '' then
    Queue.leave(is.queue, jid, entered)
  end
  if is.throttles then
    Throttle.release(now, jid, is.throttles, is.queue, is.state)
    call('hset', Key.job(jid), 'throttles', back.throttles)
  end
  if back.queue ~= '' then
    Queue.remember(back.queue, now)
  end
  Whole.tell(jid, back.state, back.queue, failure)
  return nil
end

function Undo.priority(now, jid, back)
  local is, why = known(jid)
  if not is then
    return why
  elseif Check.finite(is.priority) ~= Check.finite(back.new) then
    return 'changed'
  end
  Commands['priority'](now, { jid, back.old })
  return nil
end

local function retag(now, jid, how, back)
  local is, why = known(jid)
  if not is then
    return why
  end
  local tags = tags_of({ tags = encode(back.tags) }, is, how == 'remove')
  if #tags == 0 then
    return 'changed'
  end
  tag(now, how, jid, tags)
  return nil
end

function Undo.tag(now, jid, back)
  return retag(now, jid, 'remove', back)
end

function Undo.untag(now, jid, back)
  return retag(now, jid, 'add', back)
end

function Undo.untrack(now, jid, back)
  if call('hexists', Key.job(jid), 'jid') == 0 then
    return 'gone'
  elseif call('zadd', Key.tracked, 'NX', back.score, jid) == 0 then
    return 'changed'
  end
  Events.job('track', jid)
  return nil
end

function Undo.data(now, jid, back)
  local data = call('hmget', Key.job(jid), 'jid', 'data')
  if not data[1] then
    return 'gone'
  elseif redis.sha1hex(data[2] or '') ~= back.new then
    return 'changed'
  end
  local why = back.place and Undo.place(now, jid, back.place) or nil
  if not why then
    call('hset', Key.job(jid), 'data', back.old)
  end
  return why
end

-- Whether whoever undoes something may change the jobs of the queue that a job was in, by the head of what is kept of
-- it, and of that where it is.
local function is_mine(op, jid, head)
  if op.reach == '' then
    return true
  end
  local was = Json.object(head).queue or ''
  local ok, queue = pcall(call, 'hget', Key.job(jid), 'queue')
  return is_reached(op, was) and is_reached(op, ok and queue or was)
end

-- Undoes what was done to the job at a place of another operation's list.
local function undo(chunk, jid, index)
  local key = block(chunk.op.of, floor(index / BLOCK))
  local text = call('hget', key, jid)
  local at = text and string.find(text, '\n', 1, true)
  if not at then
    local was = tonumber(call('hget', operation(chunk.op.of), 'at') or '')
    local is_known = was and index >= was or call('exists', key) == 1 -- it never came so far
    return is_known and 'untouched' or 'forgotten'
  end
  if not is_mine(chunk.op, jid, string.sub(text, 1, at - 1)) then
    return 'foreign'
  end
  local back = named(cmsgpack.unpack(string.sub(text, at + 1)))
  Check.memory()
  local why = Undo[back.what](chunk.now, jid, back)
  if not why then
    call('hdel', key, jid)
    chunk.restored = chunk.restored + 1
  end
  return why
end

-- Does one thing to one job; answers why it was not done, if it was not.
local function act(chunk, text, index, given)
  local op = chunk.op
  local jid, state = entry(op, text)
  if op.action == 'undo' then
    return undo(chunk, jid, op.form == 'picked' and state or op.total - 1 - index)
  end
  local was, why = look(chunk.now, op, jid, state)
  if not was then
    if why == 'gone' and op.group ~= '' then
      left_group(chunk, op.group, jid) -- a name in a list is nothing to act on, and leaves it here
    end
    return why
  end
  return Verbs[op.action](chunk, jid, was, given)
end

-- The same, whatever becomes of it: one bad job never stops the rest.
local function try(chunk, text, index, given)
  local ok, why = pcall(act, chunk, text, index, given)
  if ok and not why then
    return nil
  end
  chunk.kept[(entry(chunk.op, text))] = nil -- of what was not done nothing is kept
  if ok then
    return why
  end
  return type(why) == 'table' and why.code and 'refused' or 'unreadable'
end

-- Plain jobs: those of which nobody has a hold but their group, or one set of their queue; most are like that.
-- Many of them are done together: what is the same for all is made once. Any other job is done as above.

-- How far from its end a failure tells when it was, at most.
local TAIL = -200

-- The moment of a failure as we write it, and its group, which needs no parser; nil where that is not for sure. `time`:
-- when its job was popped.
local function failed_as(op, failure, time)
  local group = op.group
  if group == '' then
    group = string.match(failure, '^{"group":"([^"\\]*)",')
  elseif string.sub(failure, 1, #op.mark) ~= op.mark then
    return nil
  end
  -- No text within it has these words: its quotes are not bare.
  local at = group and string.find(failure, ',"when":', TAIL, true)
  local when = at and tonumber(string.match(failure, '^(%d+),"worker":"[^"\\]*"}$', at + 8))
  if not when or is_since(op, when, time) then
    return nil
  end
  return when, group
end

-- The sets of a queue that a plain job may be in, all of which it leaves.
local function sets_of(queue)
  return { Key.work(queue), Key.scheduled(queue), Key.locks(queue), Key.depends(queue) }
end

-- Raises where something else lies under one of these keys, or under one that a job that enters a queue writes to.
local function are_sets(keys)
  for _, key in ipairs(keys) do
    call('zcard', key)
  end
  call('zcard', Key.queues)
  call('scard', Key.paused_queues)
end

-- What is the same for all plain jobs of a chunk in one queue: its `name` as JSON, its `sets`; the `item` of a
-- history when they are put there, and their `scores` by priority; `heads` of what is kept of them, by state and
-- class. And who `entered` and who `left`, whether any `leaves` a set, and how many fail no more, by day. False where
-- something else lies under one of its keys, or whoever asked may not change its jobs.
local function of_queue(chunk, queue)
  local known = chunk.queues[queue]
  if known == nil then
    local sets, name = sets_of(queue), encode(queue)
    local is_fit = is_reached(chunk.op, queue) and pcall(are_sets, sets)
    known = is_fit and { name = name, sets = sets, heads = {}, scores = {}, entered = {}, left = {}, days = {},
      item = History.item(chunk.now, '"put"', '{"q":' .. name .. '}') }
    chunk.queues[queue] = known
  end
  return known
end

local function head_of(known, klass, state)
  local heads = known.heads[state]
  if not heads then
    heads = {}
    known.heads[state] = heads
  end
  local head = heads[klass]
  if not head then
    head = '{"klass":' .. encode(klass) .. ',"queue":' .. known.name .. ',"state":' .. encode(state) .. '}\n'
    heads[klass] = head
  end
  return head
end

local function no_longer_failed(chunk, known, jid, when, group)
  local day = Stats.bin(when)
  known.days[day] = (known.days[day] or 0) + 1
  left_group(chunk, group, jid)
end

-- Plain jobs, by what is done: action -> function(chunk, jid, state, index) -> whether it is one, which is done when
-- the chunk is finished. What is kept of it is a list, not a table by name: see named.
local Plain = {}

function Plain.move(chunk, jid, state, index)
  local found = call('hmget', Key.job(jid), 'jid', 'state', 'queue', 'failure', 'worker', 'history', 'throttles',
    'priority', 'retries', 'remaining', 'time', 'expires', 'scheduled', 'klass')
  local queue, worker = found[3], found[5]
  if found[2] ~= 'failed' or not found[1] or (state and state ~= 'failed') or not queue or queue == ''
    or not found[4] or (worker and worker ~= '') or found[6] or found[7] then
    return false
  end
  local op = chunk.op
  local when, group = failed_as(op, found[4], found[11])
  local from = when and of_queue(chunk, queue)
  local to = from and (op.queue == '' and from or of_queue(chunk, op.queue))
  if not to then
    return false
  end
  History.push(jid, nil, to.item)
  local priority = found[8] or '0'
  local score = to.scores[priority]
  if not score then
    score = string.format('%.17g', Queue.score(Check.finite(priority) or 0, chunk.now))
    to.scores[priority] = score
  end
  local entered = to.entered
  local at = #entered
  entered[at + 1], entered[at + 2], entered[at + 3] = score, jid, Json.again(found[9], 5)
  entered[at + 4], entered[at + 5] = queue, worker
  no_longer_failed(chunk, from, jid, when, group)
  put_away(chunk, index, jid, head_of(from, found[14] or '', 'failed') .. cmsgpack.pack({ PLACE, queue, worker,
    found[10], found[11], found[12], found[4], found[13], chunk.time }))
  return true
end

Plain.retry = Plain.move

-- How many names and values, and items of its history, a plain job has at most.
local MOST = 200

-- The states of a plain job.
local EASY = { failed = true, waiting = true, scheduled = true }

-- What tags say of a job, as it is kept: pairs of tags and scores.
local function tags_kept(jid, text)
  local kept = {}
  for _, tag in ipairs(Tags.stored(text)) do
    local ok, score = pcall(call, 'zscore', Key.tag(tag), jid)
    kept[#kept + 1], kept[#kept + 2] = tag, ok and score or ''
  end
  return kept
end

local NONE = {}

function Plain.cancel(chunk, jid, state, index)
  local fields, was = call('hgetall', Key.job(jid)), chunk.plain
  if #fields > MOST then
    return false
  end
  was.jid, was.state, was.queue, was.failure, was.worker = false, false, false, false, false
  was.history, was.throttles, was.tags, was.klass, was.time = false, false, false, false, false
  for i = 1, #fields, 2 do
    was[fields[i]] = fields[i + 1]
  end
  local queue, worker = was.queue, was.worker
  if not EASY[was.state] or not was.jid or (state and state ~= was.state) or not queue or queue == ''
    or (worker and worker ~= '') or was.history or was.throttles then
    return false
  end
  local known, score, when, group = of_queue(chunk, queue), '', nil, nil
  if was.state == 'failed' then
    when, group = failed_as(chunk.op, was.failure or '', was.time)
  elseif known then
    score = call('zscore', Queue.set_of(was.state, queue), jid)
  end
  if not known or not score or (was.state == 'failed' and not when) then
    return false
  end
  local history = call('lrange', Key.history(jid), 0, MOST)
  if #history > MOST then
    return false
  end
  local is_tagged = was.tags and was.tags ~= '[]' and was.tags ~= '{}'
  local tags = is_tagged and tags_kept(jid, was.tags) or NONE
  put_away(chunk, index, jid, head_of(known, was.klass or '', was.state)
    .. cmsgpack.pack({ JOB, history, tags, score, fields }))
  if is_tagged then
    Tags.unindex(jid, Tags.stored(was.tags))
  end
  local at = #known.left
  known.left[at + 1], known.left[at + 2] = jid, worker
  if when then
    no_longer_failed(chunk, known, jid, when, group)
  else
    known.leaves = true
  end
  return true
end

-- Whether a job is a plain one, and done.
local function is_done(plain, chunk, jid, state, index)
  if chunk.tracked[jid] then
    return false
  end
  local ok, is_plain = pcall(plain, chunk, jid, state, index)
  return ok and is_plain
end

-- Does what is left to do of the plain jobs that entered a queue: each of its five entries in a row.
local function enter(chunk, queue, known)
  local entered, members = known.entered, {}
  for i = 1, #entered, 5 do
    members[#members + 1], members[#members + 2] = entered[i], entered[i + 1]
  end
  call('zadd', Key.work(queue), unpack(members))
  Queue.tell(queue)
  for i = 2, #entered, 5 do
    local jid, remaining, from, worker = entered[i], entered[i + 1], entered[i + 2], entered[i + 3]
    if from == queue and worker == '' then
      call('hmset', Key.job(jid), 'state', 'waiting', 'expires', '0', 'remaining', remaining, 'time', chunk.time)
    else
      call('hmset', Key.job(jid), 'state', 'waiting', 'worker', '', 'expires', '0', 'queue', queue,
        'remaining', remaining, 'time', chunk.time)
    end
    Events.put(jid, known.name)
  end
  Queue.remember(queue, chunk.now)
  known.entered = {}
end

-- The same of those that left one for good.
local function leave(queue, known)
  local left, keys, jids = known.left, {}, {}
  for i = 1, #left, 2 do
    local jid = left[i]
    keys[i], keys[i + 1] = Key.job(jid), Key.history(jid)
    jids[#jids + 1] = jid
  end
  call('del', unpack(keys))
  for _, key in ipairs(known.leaves and known.sets or NONE) do
    call('zrem', key, unpack(jids))
  end
  for i = 1, #left, 2 do
    Events.canceled(left[i], queue, left[i + 1])
  end
  known.left = {}
end

-- Does what is left to do of the plain jobs that were looked at.
local function finish(chunk)
  for queue, known in pairs(chunk.queues) do
    if known and #known.entered > 0 then
      enter(chunk, queue, known)
    end
    if known and #known.left > 0 then
      leave(queue, known)
    end
  end
end

-- Those that failed leave the days and the queues that they were counted in, when the call ends.
local function uncount(chunk)
  for queue, known in pairs(chunk.queues) do
    for day, number in pairs(known and known.days or {}) do
      local key = Key.stats('stats', day, queue)
      Call.uncounted = Call.uncounted or {}
      Call.uncounted[key] = (Call.uncounted[key] or 0) + number
    end
  end
end

-- How much CPU time the server has used, in seconds. Old servers do not tell it to scripts; there the
-- clock goes on while one runs.
local has_clock, cpu = pcall(function()
  return os.clock
end)

local function spent()
  if has_clock then
    return cpu()
  end
  local time = call('time')
  return time[1] + time[2] / 1e6
end

-- Takes those who left a group off its list. Who is done oldest first leaves from the end: so all go at once.
local function take_off(group, jids)
  local key = Key.failed(group)
  local number = #jids
  local tail = call('lrange', key, -number, -1)
  for i, jid in ipairs(jids) do
    if tail[number + 1 - i] ~= jid then
      return Failures.remove(group, jids)
    end
  end
  call('ltrim', key, 0, -number - 1)
  if call('exists', key) == 0 then
    call('srem', Key.failures, group)
  end
end

-- Keeps what the jobs of a chunk were, for as long as the operation says.
local function store(op, chunk)
  if op.keep == '' then
    return 0
  end
  for jid, what in pairs(chunk.kept) do
    put_away(chunk, chunk.places[jid], jid, what)
  end
  for number, fields in pairs(chunk.blocks) do
    local key = block(op.id, number)
    call('hset', key, unpack(fields))
    call('expire', key, op.keep)
  end
  if chunk.bytes > 0 then
    call('hincrby', operation(op.id), 'kept', chunk.bytes)
    call('zadd', Key.web('trash'), 'NX', chunk.now, op.id)
  end
  return chunk.bytes
end

-- An operation that rests is forgotten some day: whoever lets it go on takes that back.
local function forget_some_day(op)
  for _, part in ipairs(op.lasts ~= '' and { '', ':list', ':report' } or {}) do
    call('expire', operation(op.id, part), op.lasts)
  end
end

-- Notes how far the operation is, and answers how many were left alone.
local function note(op, at, chunk, number)
  local key = operation(op.id)
  local parts, skipped = {}, 0
  for index, why in pairs(chunk.left) do
    parts[#parts + 1] = '"' .. (index - at) .. '":' .. encode(why)
    skipped = skipped + 1
    call('hincrby', key, 'left:' .. why, 1)
  end
  if chunk.restored > 0 and call('exists', operation(op.of)) == 1 then -- it may be forgotten meanwhile
    call('hincrby', operation(op.of), 'restored', chunk.restored)
  end
  if number > 0 then
    local report = operation(op.id, ':report')
    local chunks = call('rpush', report, '{"from":' .. at .. ',"count":' .. number .. ',"when":'
      .. Json.second(chunk.now) .. ',"left":{' .. table.concat(parts, ',') .. '}}')
    local seconds = chunks == 1 and call('ttl', key) or 0
    if seconds > 0 then -- it lasts no longer than the operation
      call('expire', report, seconds)
    end
    call('hincrby', key, 'done', number - skipped)
    call('hincrby', key, 'skipped', skipped)
    call('hset', key, 'at', at + number)
  end
  local canary = tonumber(op.canary) or 0
  if number == 0 and at < op.total then
    op.state = 'stopped'
    call('hmset', key, 'state', op.state, 'why', 'lost')
  elseif at + number >= op.total then
    op.state = 'done'
    call('hmset', key, 'state', op.state, 'ended', chunk.now)
  elseif canary > 0 and at + number >= canary then
    op.state = 'paused'
    call('hmset', key, 'state', op.state, 'why', 'canary', 'canary', '0')
  end
  if op.state ~= 'running' then
    forget_some_day(op)
  end
  return skipped
end

local function reply(op, at, skipped, began, bytes)
  return '{"state":' .. encode(op.state) .. ',"at":' .. at .. ',"total":' .. op.total .. ',"skipped":'
    .. skipped .. ',"bytes":' .. bytes .. ',"took":' .. Json.number(math.max(spent() - began, 0)) .. '}'
end

-- An operation that was queued runs from its first step on.
local function begin(op, now)
  if op.state == 'queued' then
    op.state = 'running'
    call('hset', operation(op.id), 'state', op.state)
    call('hsetnx', operation(op.id), 'began', now)
  end
end

-- The pairs of data that came along for an edit.
local function pairs_given(arg, from)
  local given = {}
  for i = from, #arg - 1, 2 do
    given[#given + 1] = { arg[i], arg[i + 1] }
  end
  return given
end

-- Jobs that are read off the list together.
local AT_ONCE = 25

-- To ask for the time costs as much as to ask for a key: it is done after so many plain jobs, or bytes of theirs.
local CHEAP, LARGE = 4, 10000

-- What it matters to who waits for whom.
local LINKED = { retry = true, move = true, cancel = true, edit = true }

-- Finds out whether any of some jobs waits for another one, or is waited for, and which of them are tracked: one
-- look at all of them.
local function look_around(chunk, texts)
  local keys, jids = {}, {}
  for i, text in ipairs(LINKED[chunk.op.action] and texts or {}) do
    local jid = entry(chunk.op, text)
    keys[2 * i - 1], keys[2 * i] = Key.dependencies(jid), Key.dependents(jid)
    jids[i] = jid
  end
  chunk.alone = #keys > 0 and call('exists', unpack(keys)) == 0
  local scores = chunk.tracks and #jids > 0 and call('zmscore', Key.tracked, unpack(jids)) or {}
  for i, jid in ipairs(jids) do
    chunk.tracked[jid] = scores[i]
  end
end

-- operation.step id run count seconds [old new]... -> JSON {state, at, total, skipped, bytes, took}.
-- Does the next jobs of an operation that runs, at most `count`, and no further one when that many seconds of the
-- server's time are used. Where it does not run, or another `run` of it does, nothing is done and its state
-- told; `gone` where there is none. For an edit the data of each of them follows, as it was read and as it is
-- to be; both '' for one that is to be left.
-- Publishes: as what is done to each.
Commands['operation.step'] = function(now, arg)
  local id = Check.name(arg[1], 'operation')
  local run = Check.count(arg[2], 'run')
  local count = math.min(Check.count(arg[3], 'count'), 1000)
  local seconds = Check.positive(arg[4], 'seconds')
  local began = spent()
  local op = said(id)
  if not op then
    return '{"state":"gone","at":0,"total":0,"skipped":0,"bytes":0,"took":0}'
  elseif tonumber(op.run) ~= run then
    return reply({ state = 'superseded', total = op.total }, op.at, 0, began, 0)
  elseif op.state ~= 'running' and op.state ~= 'queued' then
    return reply(op, op.at, 0, began, 0)
  end
  Check.memory()
  begin(op, now)
  local given = pairs_given(arg, 5)
  local canary = tonumber(op.canary) or 0
  if canary > op.at then
    count = math.min(count, canary - op.at)
  end
  local chunk = chunk_of(now, op)
  local number, is_over, cheap, bytes = 0, false, 0, 0
  while number < count and not is_over do
    local texts = entries(op, op.at + number, math.min(count - number, AT_ONCE))
    is_over = #texts == 0
    look_around(chunk, texts)
    local plain = op.delay == '' and chunk.alone and Plain[op.action]
    for _, text in ipairs(texts) do
      number = number + 1
      local index = op.at + number - 1
      local jid, state = entry(op, text)
      if chunk.places[jid] then -- once is enough
        chunk.left[index] = 'same'
      else
        chunk.places[jid] = index
        if plain and is_done(plain, chunk, jid, state, index) then
          cheap = cheap + 1
        else
          local pair = given[number]
          chunk.left[index] = try(chunk, text, index, pair and (pair[1] ~= '' or pair[2] ~= '') and pair or nil)
          cheap = CHEAP
        end
      end
      if cheap >= CHEAP or chunk.bytes > bytes + LARGE then
        is_over, cheap, bytes = spent() - began >= seconds, 0, chunk.bytes
      end
      if is_over then
        break
      end
    end
    if plain then
      finish(chunk)
    end
  end
  remove_doomed(chunk)
  uncount(chunk)
  for group, jids in pairs(chunk.groups) do
    pcall(take_off, group, jids)
  end
  local bytes = store(op, chunk)
  local skipped = note(op, op.at, chunk, number)
  return reply(op, op.at + number, skipped, began, bytes)
end

-- From which states an operation goes on.
local RESTS = { draft = true, paused = true, stopped = true }

-- Whether something undoes an operation, or did:.
local function is_undone(id)
  return (call('hget', operation(id), 'undone_by') or '') ~= ''
end

-- Lets an operation be done that rests; answers which run of it that is, 0 where it does not rest.
local function begin(now, op)
  if not RESTS[op.state] or op.at >= op.total then
    return 0
  end
  Check.memory()
  local key, run = operation(op.id), (tonumber(op.run) or 0) + 1
  call('hmset', key, 'state', 'queued', 'run', run, 'why', '', 'ordered', Json.number(now))
  for _, part in ipairs({ '', ':list', ':report' }) do
    call('persist', operation(op.id, part))
  end
  call('zadd', Key.web('operations'), tonumber(call('hget', key, 'created')) or now, op.id)
  return run
end

-- operation.start id run -> the run of it that is to be done now; 0 where there is nothing to start: there is no such
-- operation, it is at work or through, it was undone, or that run is not the latest: of two that start it at once,
-- one does.
-- Whoever started it puts the job that does it. It is listed with all that were, and is not forgotten meanwhile.
Commands['operation.start'] = function(now, arg)
  local id = Check.name(arg[1], 'operation')
  local run = Check.count(arg[2], 'run')
  local op = said(id)
  return op and tonumber(op.run) == run and not is_undone(id) and begin(now, op) or 0
end

-- operation.undo id -> as `operation.start`, for the draft of what undoes another one; 0 as well where that one
-- is gone or at work, or was undone before. That it is undone is noted in the same call: it goes on no more, and one
-- that was paused is stopped.
Commands['operation.undo'] = function(now, arg)
  local id = Check.name(arg[1], 'operation')
  local op = said(id)
  local of = op and op.of ~= '' and said(op.of)
  if not of or op.state ~= 'draft' or not (RESTS[of.state] or of.state == 'done')
    or is_undone(op.of) then
    return 0
  end
  local run = begin(now, op)
  if run > 0 then
    call('hset', operation(op.of), 'undone_by', id)
    if of.state == 'paused' then
      call('hmset', operation(op.of), 'state', 'stopped', 'why', '')
    end
  end
  return run
end

-- operation.rest id state why -> the state that the operation is in then; '' where there is none. Lets one
-- that is queued, runs or is paused rest, `paused` or `stopped`; any other one stays as it is.
Commands['operation.rest'] = function(_, arg)
  local id = Check.name(arg[1], 'operation')
  local state = arg[2]
  if state ~= 'paused' and state ~= 'stopped' then
    Check.must('state', 'paused or stopped', state)
  end
  local why = Check.text(arg[3], 'why')
  local op = said(id)
  if not op then
    return ''
  elseif op.state ~= 'queued' and op.state ~= 'running' and op.state ~= 'paused' then
    return op.state
  end
  call('hmset', operation(id), 'state', state, 'why', why)
  forget_some_day(op)
  return state
end

-- Entries that one call copies from a list, the last ones first; how far an entry is looked for that has moved
-- nearer to the end; how far, one that others were put in front of; and by how many the end of it is known.
local COPIED, MOVED, BEHIND, FENCE = 1000, 4000, 10000, 100

-- Seconds that a list stays that nobody does anything with.
local UNUSED = 3600

-- How far from the end of a list that is copied the last entry stands that was; nil where that cannot be found.
local function copied_to(from, key, listed)
  if listed == 0 or call('lindex', key, 0) == call('lindex', from, -listed) then
    return listed
  end
  local nearest = math.max(1, listed - MOVED)
  local there, places = call('lrange', from, -listed, -nearest), {}
  for i, jid in ipairs(there) do
    places[jid] = nearest + #there - i
  end
  for _, jid in ipairs(call('lrange', key, 0, 99)) do
    if places[jid] then
      return places[jid]
    end
  end
  return nil
end

-- How many of some entries, the first ones last, come up to the end of what was seen: to the last of those by
-- which that is known, `fence`; all of them where it is not among them. `before` is the entry before them.
local function seen_of(found, fence, before)
  local seen = fence[before] and 0
  for i = #found, 1, -1 do
    if fence[found[i]] then
      seen = #found - i + 1
    elseif seen then
      break
    end
  end
  return seen or #found
end

-- Copies the next of the last `size` entries of a list, and none that is beyond the fence; answers how many are
-- copied now. Others take entries off meanwhile, and add some; where so many went that the place is lost, all is
-- copied at once.
local function copy_more(from, key, size, fence)
  Check.memory()
  local listed = call('llen', key)
  local at = copied_to(from, key, listed)
  if not at then
    call('copy', from, key, 'replace')
    call('ltrim', key, -size, -1)
    local found = call('lrange', key, 0, BEHIND - 1)
    call('ltrim', key, #found - seen_of(found, fence), -1)
    call('expire', key, UNUSED)
    return call('llen', key)
  end
  local number = math.min(COPIED, size - listed)
  local found = number > 0 and call('lrange', from, -(at + number), -(at + 1)) or {}
  local seen = #found > 0 and seen_of(found, fence, call('lindex', key, 0)) or 0
  if seen > 0 then
    local turned = {}
    for i = #found, #found - seen + 1, -1 do
      turned[#turned + 1] = found[i]
    end
    call('lpush', key, unpack(turned))
    call('expire', key, UNUSED)
  end
  return listed + seen
end

-- Whether a job that somebody saw as the newest of a group, one of so many, still stands there as it did then: so far
-- from the end at most, and popped and failed before they looked. What stands behind it was there, too.
local function stands(jid, place, count, before)
  if place > count then
    return false
  end
  local ok, is = pcall(call, 'hmget', Key.job(jid), 'time', 'failure')
  local time, when = ok and tonumber(is[1] or ''), ok and tonumber(Json.object(is[2]).when)
  return time and when and time <= before and when <= before or false
end

-- operation.freeze id group newest count before -> JSON {"size": how many jobs there are, "copied": how many of them
-- are copied now, "last": [jid], "listed": whether all of them were there at the moment `before`, when somebody
-- looked; 0 for nobody}. Begins to copy the list of a failure group: up to the newest job that they saw, '' for all;
-- where that one has left, the `count` oldest. `last` are the newest of them, at most a hundred.
-- operation.freeze id more group size jid... -> how many are copied now: goes on with it, up to that many and to
-- the newest of these jids, which are `last`.
-- operation.freeze id list other -> the same, of the list of another operation, until no more come.
-- operation.freeze id jids jid... -> the same, of jobs that are named, which come behind those that were
-- added before, each with the state that it is in. operation.freeze id needed jid... adds jobs that are to stay,
-- as others wait for them.
Commands['operation.freeze'] = function(_, arg)
  local id = Check.name(arg[1], 'operation')
  local form = arg[2]
  local key = operation(id, ':list')
  if form == 'group' then
    local group = Check.text(arg[3], 'group')
    local newest, count = Check.text(arg[4], 'newest'), Check.count(arg[5], 'count')
    local before = arg[6] and Check.number(arg[6], 'before') or 0
    local size = call('llen', Key.failed(group))
    local at, place = 0, nil
    if newest ~= '' then
      place = call('lpos', Key.failed(group), newest, 'maxlen', BEHIND)
      at = place or math.max(size - count, 0)
    end
    local listed = place and stands(newest, size - place, count, before) or false
    Check.memory()
    call('unlink', key)
    size = size - at
    local copied = copy_more(Key.failed(group), key, size, {})
    local last = size > 0 and call('lrange', Key.failed(group), at, at + math.min(size, FENCE) - 1) or {}
    return '{"size":' .. size .. ',"copied":' .. copied .. ',"last":' .. Json.list(last) .. ',"listed":'
      .. tostring(listed) .. '}'
  elseif form == 'more' then
    local group, size, fence = Check.text(arg[3], 'group'), Check.count(arg[4], 'size'), {}
    for i = 5, #arg do
      fence[Check.text(arg[i], 'jid')] = true
    end
    return copy_more(Key.failed(group), key, size, fence)
  elseif form == 'list' then
    local from = operation(Check.name(arg[3], 'other'), ':list')
    return copy_more(from, key, call('llen', from), {})
  elseif form ~= 'jids' and form ~= 'needed' then
    Check.must('form', 'group, more, list, jids or needed', form)
  end
  local found = {}
  for i = 3, math.max(#arg, 3) do
    local jid = Check.text(arg[i], 'jid')
    local ok, state = pcall(call, 'hget', Key.job(jid), 'state')
    found[#found + 1] = (form == 'needed' and NEEDED or ok and LETTERS[state] or '-') .. jid
  end
  for _, text in ipairs(found) do
    call('lpush', key, text)
  end
  call('expire', key, UNUSED)
  return call('llen', key)
end

local function counted(numbers)
  local parts = {}
  for name, number in pairs(numbers) do
    parts[#parts + 1] = encode(name) .. ':' .. number
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

local function one_more(numbers, name)
  numbers[name] = (numbers[name] or 0) + 1
end

-- operation.look id from count place... -> JSON {"looked": how many, "fits": how many, "classes": {name: number},
-- "queues": {name: number}, "left": {reason: number}, "sample": [jid], "odd": [[jid, reason]]}: what an
-- operation would do to the jobs of its list from one on, were they to stay as they are. At most 500. The
-- places are those of jobs whose data cannot be edited as is wanted, as the caller found: `data`. Reads only.
Commands['operation.look'] = function(now, arg)
  local id = Check.name(arg[1], 'operation')
  local from = Check.count(arg[2], 'from')
  local count = math.min(Check.count(arg[3], 'count'), 500)
  local unfit = {}
  for i = 4, #arg do
    unfit[Check.count(arg[i], 'place')] = true
  end
  local op = said(id) or Check.must('operation', 'one that there is', id)
  local classes, queues, left, sample, odd = {}, {}, {}, {}, {}
  local looked, fits = 0, 0
  for i, text in ipairs(count > 0 and entries(op, from, count) or {}) do
    looked = looked + 1
    local jid, state = entry(op, text)
    local was, why = look(now, op, jid, state)
    if was and unfit[from + i - 1] then
      was, why = nil, 'data'
    end
    if was and op.action == 'cancel' and op.form == 'group' and call('exists', Key.dependents(jid)) == 1
      and #Dependencies.waiting_for(jid, {}, 1) > 0 then
      was, why = nil, 'dependents'
    end
    if was then
      fits = fits + 1
      one_more(classes, was.klass or '')
      one_more(queues, was.queue or '')
      if #sample < 5 then
        sample[#sample + 1] = jid
      end
    else
      one_more(left, why)
      if #odd < 5 then
        odd[#odd + 1] = '[' .. encode(jid) .. ',' .. encode(why) .. ']'
      end
    end
  end
  return '{"looked":' .. looked .. ',"fits":' .. fits .. ',"classes":' .. counted(classes) .. ',"queues":'
    .. counted(queues) .. ',"left":' .. counted(left) .. ',"sample":' .. Json.list(sample) .. ',"odd":'
    .. Json.join(odd) .. '}'
end

-- operation.fare id from count -> JSON {"looked": how many, "failed": how many, "ended": how many}: what
-- became of the jobs that an operation put to work, from one of its list on: how many have failed since, and how
-- many have ended, those among them. At most 500. Reads only.
Commands['operation.fare'] = function(_, arg)
  local id = Check.name(arg[1], 'operation')
  local from = Check.count(arg[2], 'from')
  local count = math.min(Check.count(arg[3], 'count'), 500)
  local op = said(id) or Check.must('operation', 'one that there is', id)
  local looked, failed, ended = 0, 0, 0
  local began = floor(tonumber(op.began) or 0)
  count = math.min(count, op.at - from)
  for _, text in ipairs(count > 0 and entries(op, from, count) or {}) do
    looked = looked + 1
    local ok, is = pcall(call, 'hmget', Key.job((entry(op, text))), 'state', 'time', 'failure')
    local state = ok and is[1]
    if state == 'failed' and (tonumber(Json.object(is[3]).when) or 0) >= began then
      failed, ended = failed + 1, ended + 1
    elseif not state or (state == 'complete' and (tonumber(is[2]) or 0) >= began) then
      ended = ended + 1
    end
  end
  return '{"looked":' .. looked .. ',"failed":' .. failed .. ',"ended":' .. ended .. '}'
end
