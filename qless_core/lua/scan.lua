-- Looks at one key that a scan met, whatever it is, and hands on to the looks at what lies there.

-- A key of another type than belongs there.
function Scan.foreign(see, key)
  local place, name, wanted = Place.of(key)
  local kind = Stored.type_of(key)
  if not place or kind == 'none' or kind == wanted then
    return
  end
  if place == 'job' then
    local _, of_side = Place.side(name)
    if kind == of_side then
      return
    end
  end
  see.add('foreign-type', 'it holds a ' .. kind .. ' where a ' .. wanted .. ' belongs', 'foreign', key)
end

-- The key of a job's history, or of who waits for whom.
local function look_side(see, key, name)
  see.cost(2)
  local what, kind, jid = Place.side(name)
  if not what or Stored.type_of(key) ~= kind then
    Scan.foreign(see, key)
  elseif not Stored.fields(jid) then
    see.add('leftover-key', 'the job ' .. Sight.quoted(jid) .. ' is gone', 'key', key)
  elseif what ~= 'history' then
    Entries.all(see, what, jid, key, kind)
  end
end

-- A key that is there though its job is not: again, for the repair.
function Scan.key(see, key)
  local place, name = Place.of(key)
  if place == 'job' then
    if Stored.type_of(key) == 'hash' then
      Checkup.job(see, name)
    else
      look_side(see, key, name)
    end
  elseif place == 'cron_runs' and call('exists', Key.cron_job(name)) == 0 then
    see.add('leftover-key', 'the recurring job ' .. Sight.quoted(name) .. ' is gone', 'key', key)
  end
end

local QUEUE_SETS = { work = true, locks = true, scheduled = true, depends = true, throttled = true,
  recur = true, cron = true }

-- One key that a scan met.
function Scan.scanned(see, key)
  see.cost(1)
  local place, name, wanted = Place.of(key)
  if not place then
    if string.sub(key, 1, #Place.FIGURES) == Place.FIGURES then
      return Ledger.stats(see, key)
    elseif not Place.is_ours(key) then
      see.add('unknown-key', 'nobody knows what it is', 'unknown', key)
    end
    return
  end
  if place == 'job' then
    local kind = Check.stem(name) and Stored.type_of(key) or 'hash'
    if kind == 'hash' then
      Checkup.job(see, name)
    else
      look_side(see, key, name)
    end
    return
  elseif place == 'recurring' or place == 'cron_job' then
    return Recurrence[place](see, name)
  elseif place == 'cron_runs' then
    return Recurrence.runs(see, key, name)
  end
  see.cost(1)
  if Stored.type_of(key) ~= wanted then
    return Scan.foreign(see, key)
  end
  if QUEUE_SETS[place] then
    Ledger.queue(see, name)
  elseif place == 'failed' then
    Ledger.group(see, name)
  elseif place == 'tag' then
    Entries.entry(see, 'tags', '', name)
  elseif place == 'completed' then
    Ledger.completed(see)
  end
  if Entries.has(place) then
    Entries.all(see, place, name, key, wanted)
  end
end
