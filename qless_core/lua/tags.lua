-- Jobs by tag: `ql:t:<tag>` holds the jids, `ql:tags` counts the uses.

local function is_blank(tag)
  return not string.find(tag, '%S')
end

-- The most tags that a call may leave on a job.
local MOST = 1000

-- append(tags, more, from) -> tags, with those of `more` from there on that are neither blank nor
-- there already.
local function append(tags, more, from)
  local met = {}
  for _, tag in ipairs(tags) do
    met[tag] = true
  end
  for i = from, #more do
    local tag = more[i]
    if not met[tag] and not is_blank(tag) then
      met[tag] = true
      tags[#tags + 1] = tag
    end
  end
  return tags
end

-- Tags.stored(text) -> list of strings, from what a job holds: numbers as their text, whatever
-- cannot be a tag left out.
function Tags.stored(text)
  local tags = {}
  if not text or text == '[]' or text == '{}' then
    return tags
  end
  for _, tag in ipairs(Json.object(text)) do
    if type(tag) == 'string' or type(tag) == 'number' then
      tags[#tags + 1] = tostring(tag)
    end
  end
  return tags
end

-- Refuses too many tags, two callers up.
local function few(tags)
  if #tags > MOST then
    Check.refuse('BAD_ARGUMENT', 'tags must be at most ' .. MOST .. ', got ' .. #tags, 2)
  end
  return tags
end

-- Tags.distinct(strings) -> those that can be tags, once each; blanks are none. Refuses too many.
function Tags.distinct(strings)
  local tags = few(append({}, strings, 1))
  return tags
end

-- add(now, jid, tag, uses): the job carries the tag; so many uses more.
local function add(now, jid, tag, uses)
  call('zadd', Key.tag(tag), now, jid)
  if uses > 0 then
    call('zincrby', Key.tags, uses, tag)
  end
end

-- Tags.index(now, jid, tags): one use more of each. Where something else lies under the key of a tag, the job
-- is not listed there, and no worse for it.
function Tags.index(now, jid, tags)
  for _, tag in ipairs(tags) do
    Check.unless_foreign(add, now, jid, tag, 1)
  end
end

local function remove(jid, tag)
  local key = Key.tag(tag)
  local carriers = call('zcard', key) -- raises, if anything does, before there is a write
  local uses = tonumber(call('zincrby', Key.tags, -1, tag))
  carriers = carriers - call('zrem', key, jid)
  if carriers == 0 then
    call('zrem', Key.tags, tag)
  elseif uses < 1 then
    call('zadd', Key.tags, carriers, tag)
  end
end

-- Tags.unindex(jid, tags): one use less of each. Every add and every remove counts, as clients in
-- the field know it, whether or not it changes the job; so the count can end at 0 too early: then
-- it is the number of jobs. A tag that no job carries is forgotten.
function Tags.unindex(jid, tags)
  for _, tag in ipairs(tags) do
    if not Check.unless_foreign(remove, jid, tag) then
      pcall(call, 'zrem', Key.tag(tag), jid)
    end
  end
end

-- Tags.replace(now, jid, old, new): when a job is put again. What it keeps is tagged anew.
function Tags.replace(now, jid, old, new)
  if #old == 0 then
    return Tags.index(now, jid, new)
  end
  local kept = {}
  for _, tag in ipairs(new) do
    kept[tag] = true
  end
  local gone = {}
  for _, tag in ipairs(old) do
    if kept[tag] then
      kept[tag] = 'known'
    else
      gone[#gone + 1] = tag
    end
  end
  Tags.unindex(jid, gone)
  for _, tag in ipairs(new) do
    Check.unless_foreign(add, now, jid, tag, kept[tag] == 'known' and 0 or 1)
  end
end

-- Tags.merged(text, arg) -> a stored list with the tags from arg[2] on. Refuses too many.
function Tags.merged(text, arg)
  local tags = few(append(Tags.stored(text), arg, 2))
  return tags
end

-- Tags.without(text, arg) -> a stored list without the tags from arg[2] on.
function Tags.without(text, arg)
  local unwanted = {}
  for i = 2, #arg do
    unwanted[arg[i]] = true
  end
  local tags = {}
  for _, tag in ipairs(Tags.stored(text)) do
    if not unwanted[tag] then
      tags[#tags + 1] = tag
    end
  end
  return tags
end

local Actions = {}

local function stored_tags(jid)
  local known = call('hmget', Key.job(jid), 'jid', 'tags')
  if not known[1] then
    Check.missing(jid)
  end
  return known[2]
end

-- tag add jid tag... -> JSON list of the tags now. Each add is a use, also of a tag that is there.
function Actions.add(now, arg)
  local jid = Check.name(arg[1], 'jid')
  Check.text(arg[2], 'tag')
  local tags = Tags.merged(stored_tags(jid), arg)
  local used = {}
  for i = 2, #arg do
    if not is_blank(arg[i]) then
      used[#used + 1] = arg[i]
    end
  end
  Tags.index(now, jid, used)
  call('hset', Key.job(jid), 'tags', Json.list(tags))
  return Json.list(tags)
end

-- tag remove jid tag... -> JSON list of the tags left.
function Actions.remove(_, arg)
  local jid = Check.name(arg[1], 'jid')
  Check.text(arg[2], 'tag')
  local tags = Tags.without(stored_tags(jid), arg)
  Tags.unindex(jid, Check.rest(arg, 2))
  call('hset', Key.job(jid), 'tags', Json.list(tags))
  return Json.list(tags)
end

-- How many jobs of a tag, the newest, are sorted by whether they are complete: about 10 ms.
local SORTED = 5000

-- The jobs of a tag from a rank on, those that are not complete first.
local function sorted(key, from)
  local open, complete = {}, {}
  local jids = call('zrange', key, from, from + 499)
  while #jids > 0 do
    for i, finished in ipairs(call('zmscore', Key.completed, unpack(jids))) do
      local half = finished and complete or open
      half[#half + 1] = jids[i]
    end
    from = from + 500
    jids = call('zrange', key, from, from + 499)
  end
  for _, jid in ipairs(complete) do
    open[#open + 1] = jid
  end
  return open
end

-- A part of a tag's jobs: the newest SORTED ones, sorted, and then the older ones as they are. Each
-- is met once on the way through the pages.
local function open_first(key, offset, count)
  local older = math.max(call('zcard', key) - SORTED, 0)
  local jids = {}
  local newest = call('zcard', key) - older
  if offset < newest and count > 0 then
    local all = sorted(key, older)
    for i = offset + 1, math.min(offset + count, newest) do
      jids[#jids + 1] = all[i]
    end
  end
  local from, stop = math.max(offset - newest, 0), math.min(offset + count - newest, older)
  if from < stop then
    for _, jid in ipairs(call('zrange', key, from, stop - 1)) do
      jids[#jids + 1] = jid
    end
  end
  return jids
end

-- tag get tag offset? count? order? -> JSON {total, jobs}. Oldest tagged first; a count of 0 from the
-- beginning is all. With the order
-- `open-first` (an addition of ours) the newest SORTED come first, those that are not complete before
-- those that are. Reads only.
function Actions.get(_, arg)
  local key = Key.tag(Check.text(arg[1], 'tag'))
  local offset = Check.count(arg[2], 'offset', 0)
  local count = Check.count(arg[3], 'count', 25)
  local order = arg[4] or 'oldest-first'
  if order ~= 'oldest-first' and order ~= 'open-first' then
    Check.must('order', 'oldest-first or open-first', order)
  end
  local jids
  if order == 'open-first' then
    jids = open_first(key, offset, count)
  else
    jids = call('zrange', key, offset, Check.stop(offset, count))
  end
  return '{"total":' .. call('zcard', key) .. ',"jobs":' .. Json.list(jids) .. '}'
end

-- tag top offset? count? -> JSON list of the tags used more than once, most used first. Reads only.
function Actions.top(_, arg)
  local offset = Check.count(arg[1], 'offset', 0)
  local count = Check.count(arg[2], 'count', 25)
  local stop = math.min(offset + count, call('zcount', Key.tags, 2, '+inf'))
  if offset >= stop then
    return '[]'
  end
  return Json.list(call('zrevrange', Key.tags, offset, stop - 1))
end

-- tag action ...: see the four actions above.
-- Refuses: JOB_NOT_FOUND (add, remove).
Commands['tag'] = function(now, arg)
  local action = Actions[arg[1] or '']
  if not action then
    Check.must('action', 'add, remove, get or top', arg[1])
  end
  return action(now, Check.rest(arg, 2))
end
