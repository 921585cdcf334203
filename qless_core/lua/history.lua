-- What happened to a job: a list of JSON `[when, what, item?]`, capped; the first is always kept.

-- Old clients kept the history in a field of the job, as a list of {q, put, popped, failed, done,
-- worker}. old_items(legacy) -> the same as items of the list, oldest first.
local function old_items(legacy)
  local items = {}
  local function add(when, what, key, value)
    when = Check.finite(when)
    if not when then
      return
    end
    local text = '[' .. Json.number(floor(when)) .. ',"' .. what .. '"'
    if type(value) == 'string' then
      text = text .. ',{"' .. key .. '":' .. encode(value) .. '}'
    end
    items[#items + 1] = text .. ']'
  end
  for _, stay in ipairs(Json.object(legacy)) do
    if type(stay) == 'table' then
      add(stay.put, 'put', 'q', stay.q)
      add(stay.popped, 'popped', 'worker', stay.worker)
      add(stay.failed, 'failed')
      add(stay.done, 'done')
    end
  end
  return items
end

-- Moves an old history to the head of the list, once.
local function migrate(jid, legacy)
  local items = old_items(legacy)
  for i = #items, 1, -1 do
    call('lpush', Key.history(jid), items[i])
  end
  call('hdel', Key.job(jid), 'history')
end

-- History.item(now, what, item) -> the text to store; `what` is JSON already, and `item`, a JSON object, or
-- nil.
function History.item(now, what, item)
  if item then
    return '[' .. Json.second(now) .. ',' .. what .. ',' .. item .. ']'
  end
  return '[' .. Json.second(now) .. ',' .. what .. ']'
end

-- History.push(jid, legacy, text): appends an item; `legacy` is the job's old `history` field.
-- The reply of the append tells whether there is anything to trim: most calls are one command.
-- Returns true when the caller may take the old items and this one for the whole history.
function History.push(jid, legacy, text)
  if legacy then
    migrate(jid, legacy)
  end
  local key = Key.history(jid)
  local length = call('rpush', key, text)
  if length < 2 then
    return true
  end
  local limit = floor(Config.number('max-job-history'))
  if limit <= 0 or length <= limit then
    return not legacy
  end
  if limit == 1 then
    call('ltrim', key, 0, 0)
  else
    local first = call('lindex', key, 0)
    call('ltrim', key, length - limit, -1)
    call('lset', key, 0, first)
  end
  return false
end

-- The text of a JSON string at the head of `text`, and the rest.
local function head_string(text)
  local plain, rest = string.match(text, '^("[^"\\%c]*")(.*)$')
  if plain then
    return plain, rest
  end
  if string.sub(text, 1, 1) ~= '"' then
    return nil
  end
  local at = 2
  while true do
    local stop = string.find(text, '["\\]', at)
    if not stop then
      return nil
    end
    if string.byte(text, stop) == 34 then
      local head = string.sub(text, 1, stop)
      if string.find(head, '%c') or not Json.read('[' .. head .. ']') then
        return nil
      end
      return head, string.sub(text, stop + 1)
    end
    at = stop + 2
  end
end

local function is_object(text)
  return Json.read(text) and Json.is_strict(text)
end

-- One stored item as JSON of the reply: its object plus `what` and `when`, in whole seconds. The
-- object's text is kept as it is; only what no writer of the field writes is read and written anew.
local function render(item)
  -- As nearly all are: no object, or one with a plain text.
  local when, what, pair = string.match(item, '^%[([1-9]%d*),("%a[%w-]*"),{("%a+":"[^"\\%c]*")}%]$')
  if pair then
    return '{' .. pair .. ',"what":' .. what .. ',"when":' .. when .. '}'
  end
  local rest
  when, rest = string.match(item, '^%[([1-9]%d*)[%d.]*,(.*)%]$')
  local tail
  what, tail = head_string(rest or '')
  if what then
    local ending = '"what":' .. what .. ',"when":' .. when .. '}'
    if tail == '' or tail == ',null' or tail == ',{}' or tail == ',[]' then
      return '{' .. ending
    end
    -- One plain text, as put, popped and failed have it, needs no parser to be sure of.
    if string.match(tail, '^,{"[%w-]+":"[^"\\%c]*"}$')
      or (string.match(tail, '^,{.*}$') and is_object(string.sub(tail, 2))) then
      return string.sub(tail, 2, -2) .. ',' .. ending
    end
  end
  local value = Json.object(item)
  local object = {}
  if type(value[3]) == 'table' then
    for name, part in pairs(value[3]) do
      object[tostring(name)] = part
    end
  end
  object.what = type(value[2]) == 'string' and value[2] or ''
  object.when = floor(Check.finite(type(value[1]) == 'number' and value[1]) or 0)
  local ok, text = pcall(encode, object)
  return ok and text or '{"what":"","when":0}'
end

-- What was rendered of late: jobs that are popped together were put and popped in the same second.
local rendered, kept = {}, 0

-- At most so many short items.
local MOST_KEPT, SHORT = 200, 200

-- History.render(items) -> JSON list for the reply.
function History.render(items)
  local texts = {}
  for i, item in ipairs(items) do
    local text = rendered[item]
    if not text then
      text = render(item)
      if #item < SHORT then
        if kept == MOST_KEPT then
          rendered, kept = {}, 0
        end
        rendered[item] = text
        kept = kept + 1
      end
    end
    texts[i] = text
  end
  return Json.join(texts)
end

-- History.read(jid, legacy) -> items, oldest first, an old field's among them. Reads only.
function History.read(jid, legacy)
  local items = call('lrange', Key.history(jid), '0', '-1')
  if not legacy then
    return items
  end
  local all = old_items(legacy)
  for _, item in ipairs(items) do
    all[#all + 1] = item
  end
  return all
end

-- log jid message data? -> nil. Appends to the history of a job; `data` is a JSON object.
-- Refuses: JOB_NOT_FOUND.
Commands['log'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local message = Check.text(arg[2], 'message')
  local item = arg[3] and Check.object(arg[3], 'data')
  local known = call('hmget', Key.job(jid), 'jid', 'history')
  if not known[1] then
    Check.missing(jid)
  end
  History.push(jid, known[2], History.item(now, encode(message), item))
  return nil
end
