-- What one call of the audit sees: the looks it takes, at one subject each, what they found and what is left to
-- look at, as a call does little and leaves the rest.

-- About how many microseconds one call may spend on looking.
local BUDGET = 1500

-- The most entries of a set that are looked at along with its key.
Sight.FEW = 100

-- What a subject begins with -> which table has the look at it, as a function(see, rest of the subject).
local LOOKS = {
  job = Checkup, tagged = Checkup, lost = Checkup, failed = Checkup, ring = Checkup,
  entry = Entries, twice = Entries,
  queue = Ledger, group = Ledger, stats = Ledger, completed = Ledger,
  recurring = Recurrence, cron_job = Recurrence,
  scanned = Scan, key = Scan, foreign = Scan,
}

-- Sight.quoted(text) -> the text for a note.
function Sight.quoted(text)
  return '"' .. Check.short(tostring(text), 200) .. '"'
end

-- Sight.new(now, deep) -> `see`, which a look is given:
--   now; deep: whether this look is to be sure, whatever it takes; add(kind, note, subject...): tells of a fault;
--   later(subject...): leaves something to another call; tell and leave, the same with the subject as a
--   list; cost(microseconds); links: the jobs that wait and are waited for.
function Sight.new(now, deep)
  local see = { now = now, deep = deep, spent = 0, found = {}, left = {}, links = {} }
  function see.tell(kind, note, subject)
    see.spent = see.spent + 3
    see.found[#see.found + 1] = { kind = kind, note = note, subject = subject }
  end
  function see.add(kind, note, ...)
    see.tell(kind, note, { ... })
  end
  function see.leave(subject)
    see.left[#see.left + 1] = Json.list(subject)
  end
  function see.later(...)
    see.leave({ ... })
  end
  function see.cost(microseconds)
    see.spent = see.spent + microseconds
  end
  return see
end

-- Sight.is_spent(see) -> whether this call has done enough.
function Sight.is_spent(see)
  return see.spent > BUDGET
end

-- Sight.visit(see, subject...): looks now, or later when this call has done enough. A key that holds something
-- else ends a look, but no other: it is told of where it is met itself.
function Sight.visit(see, what, ...)
  if Sight.is_spent(see) then
    return see.later(what, ...)
  end
  local ok, problem = pcall(LOOKS[what][what], see, ...)
  if not ok and not Check.is_foreign(problem) then
    error(problem, 0)
  end
end

-- Sight.take(see, subject): the same for a list: a ring may be longer than the stack is deep.
function Sight.take(see, subject)
  if subject[1] ~= 'ring' then
    Sight.visit(see, unpack(subject))
  elseif Sight.is_spent(see) then
    see.leave(subject)
  else
    Checkup.ring(see, subject)
  end
end

-- Sight.told(see) -> the reply, without its beginning.
function Sight.told(see)
  local found, links = {}, {}
  for i, each in ipairs(see.found) do
    found[i] = '{"kind":' .. encode(each.kind) .. ',"note":' .. encode(each.note)
      .. ',"subject":' .. Json.list(each.subject) .. '}'
  end
  for i, jid in ipairs(see.links) do
    links[i] = encode(jid) .. ':' .. Json.list(call('smembers', Key.dependencies(jid)))
  end
  return '"found":' .. Json.join(found) .. ',"left":' .. Json.join(see.left)
    .. ',"links":{' .. table.concat(links, ',') .. '}}'
end

-- Sight.find(now, kind, subject) -> the note of this fault, if that is still there; nil otherwise.
function Sight.find(now, kind, subject)
  local see = Sight.new(now, true)
  Sight.take(see, subject)
  local wanted = Json.list(subject)
  for _, each in ipairs(see.found) do
    if each.kind == kind and Json.list(each.subject) == wanted then
      return each.note
    end
  end
  return nil
end

-- Sight.subject(text) -> the list that names a subject; nil for what is none.
function Sight.subject(text)
  local ok, value = Json.read(text)
  local subject = ok and Json.strings(value)
  if not subject or not LOOKS[subject[1] or ''] or (subject[1] == 'entry' and
    (#subject ~= 4 or not Entries.has(subject[2]))) or (#subject < 2 and subject[1] ~= 'completed') then
    return nil
  end
  return subject
end
