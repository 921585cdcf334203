-- How far a running job is, by its own word: for people to see. It is a field of the job, and goes with it.

-- The most bytes of a note.
local LONGEST = 1000

-- A number from 0 up.
local function amount(value, name)
  local number = Check.number(value, name)
  if number < 0 then
    Check.must(name, 'a number from 0 up', value)
  end
  return number
end

-- progress jid worker done [total n, note text]... -> nil. Notes how much of a job is done, out of `total` where
-- that is known, and in words; what was noted before is forgotten. A long note is cut. The lock stays as it
-- is, and nothing is published.
-- Refuses: JOB_NOT_FOUND, JOB_NOT_RUNNING, LOCK_LOST. Ours.
Commands['progress'] = function(now, arg)
  local jid = Check.name(arg[1], 'jid')
  local worker = Check.name(arg[2], 'worker')
  local done = amount(arg[3], 'done')
  local options = Check.options(arg, 4)
  local total = options.total and amount(options.total, 'total')
  local key = Key.job(jid)
  Check.owned(jid, worker, call('hmget', key, 'state', 'worker'))
  call('hset', key, 'progress', '{"done":' .. Json.number(done)
    .. (total and ',"total":' .. Json.number(total) or '')
    .. (options.note and ',"note":' .. encode(Check.short(options.note, LONGEST)) or '')
    .. ',"when":' .. string.format('%.17g', now) .. ',"worker":' .. encode(worker) .. '}')
  return nil
end

-- progress.get jid -> JSON {done, total?, note?, when, worker}, as it was noted last, maybe by an earlier run;
-- nil when nothing was, or when the job is gone. Reads only. Ours.
Commands['progress.get'] = function(_, arg)
  local text = call('hget', Key.job(Check.name(arg[1], 'jid')), 'progress')
  local ok, value = Json.read(text)
  if not ok or type(value) ~= 'table' or not Json.is_strict(text) then
    return nil
  end
  return text
end
