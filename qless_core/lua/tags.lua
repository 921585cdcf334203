-- Jobs by tag: `ql:t:<tag>` holds the jids, `ql:tags` counts the uses.

local function is_blank(tag)
  return not string.find(tag, '%S')
end

-- add(tags, tag): appends what is neither blank nor there.
local function add(tags, tag)
  if is_blank(tag) then
    return
  end
  for _, known in ipairs(tags) do
    if known == tag then
      return
    end
  end
  tags[#tags + 1] = tag
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

-- Tags.given(text, name) -> list of strings from an argument; blanks and repeats left out.
function Tags.given(text, name)
  local tags = {}
  local ok, value = Json.read(text)
  local strings = ok and Json.strings(value)
  if not strings then
    Check.refuse('BAD_ARGUMENT', 'argument "' .. name .. '" must be a JSON list of strings, got "'
      .. text .. '"', 1)
  end
  for _, tag in ipairs(strings) do
    add(tags, tag)
  end
  return tags
end

-- Tags.index(now, jid, tags): one use more of each.
function Tags.index(now, jid, tags)
  for _, tag in ipairs(tags) do
    call('zadd', Key.tag(tag), now, jid)
    call('zincrby', Key.tags, 1, tag)
  end
end

-- Tags.unindex(jid, tags): one use less of each. Every add and every remove counts, as clients in
-- the field know it, whether or not it changes the job; so the count can end at 0 too early: then
-- it is the number of jobs. A tag that no job carries is forgotten.
function Tags.unindex(jid, tags)
  for _, tag in ipairs(tags) do
    local key = Key.tag(tag)
    local uses = tonumber(call('zincrby', Key.tags, -1, tag))
    call('zrem', key, jid)
    local carriers = call('zcard', key)
    if carriers == 0 then
      call('zrem', Key.tags, tag)
    elseif uses < 1 then
      call('zadd', Key.tags, carriers, tag)
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
    call('zadd', Key.tag(tag), now, jid)
    if kept[tag] ~= 'known' then
      call('zincrby', Key.tags, 1, tag)
    end
  end
end

-- tags_of(key, tags_field) of a job or recurring job that must exist; read by the four commands.
local function merged(text, arg)
  local tags = Tags.stored(text)
  for i = 2, #arg do
    add(tags, arg[i])
  end
  return tags
end

local function without(text, arg)
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

-- Tags.merged(text, arg), Tags.without(text, arg): a stored list and the tags from arg[2] on.
Tags.merged = merged
Tags.without = without

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
  local tags = merged(stored_tags(jid), arg)
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
  local tags = without(stored_tags(jid), arg)
  Tags.unindex(jid, Check.rest(arg, 2))
  call('hset', Key.job(jid), 'tags', Json.list(tags))
  return Json.list(tags)
end

-- The jids of a tag with those that are not complete first, the oldest first in both halves.
local function open_first(key)
  local open, complete = {}, {}
  local from = 0
  while true do
    local jids = call('zrange', key, from, from + 499)
    if #jids == 0 then
      break
    end
    for i, finished in ipairs(call('zmscore', Key.completed, unpack(jids))) do
      local half = finished and complete or open
      half[#half + 1] = jids[i]
    end
    from = from + 500
  end
  for _, jid in ipairs(complete) do
    open[#open + 1] = jid
  end
  return open
end

-- tag get tag offset? count? order? -> JSON {total, jobs}. Oldest tagged first; with the order
-- `open-first` (an addition of ours) the jobs that are not complete come before those that are.
-- Reads only.
function Actions.get(_, arg)
  local key = Key.tag(Check.text(arg[1], 'tag'))
  local offset = Check.count(arg[2], 'offset', 0)
  local count = Check.count(arg[3], 'count', 25)
  local order = arg[4] or 'oldest-first'
  if order ~= 'oldest-first' and order ~= 'open-first' then
    Check.refuse('BAD_ARGUMENT',
      'argument "order" must be oldest-first or open-first, got "' .. order .. '"')
  end
  local jids = {}
  if order == 'open-first' then
    local all = open_first(key)
    for i = offset + 1, math.min(offset + count, #all) do
      jids[#jids + 1] = all[i]
    end
  elseif count > 0 then
    jids = call('zrange', key, offset, offset + count - 1)
  end
  return '{"total":' .. call('zcard', key) .. ',"jobs":' .. Json.list(jids) .. '}'
end

-- tag top offset? count? -> JSON list of the tags used more than once, most used first. Reads only.
function Actions.top(_, arg)
  local offset = Check.count(arg[1], 'offset', 0)
  local count = Check.count(arg[2], 'count', 25)
  return Json.list(call('zrevrangebyscore', Key.tags, '+inf', 2, 'limit', offset, count))
end

-- tag action ...: see the four actions above.
-- Refuses: JOB_NOT_FOUND (add, remove).
Commands['tag'] = function(now, arg)
  local action = Actions[arg[1] or '']
  if not action then
    Check.refuse('BAD_ARGUMENT', 'argument "action" must be add, remove, get or top, got "'
      .. (arg[1] or '') .. '"')
  end
  return action(now, Check.rest(arg, 2))
end
