-- The one round trip that a busy worker makes: what it has done is finished, and the next is taken.

-- turn worker count group number queue... [jid queue data]... -> JSON {"done": [jid], "left": {jid: why},
-- "emptied": [], "jobs": [job], "now": n}. First finishes the jobs that are named, as `bulk.complete` does;
-- then takes up to `count` jobs from the first of `number` queues that gives some, as `wait.pop` does for
-- one who will not wait. `group` is as there. `now` is the moment of the call: a lock ends so many seconds
-- after it as `expires` says.
-- What cannot be finished is left, and keeps nobody from taking; what cannot be taken, the next call tells.
-- Publishes: as complete, then as pop.
Commands['turn'] = function(now, arg)
  local worker = Check.name(arg[1], 'worker')
  local count = Check.count(arg[2], 'count')
  local group = Check.name(arg[3], 'group')
  local number = Check.count(arg[4], 'number')
  if number < 1 or number > 1000 then
    Check.must('number', 'from 1 to 1000', arg[4])
  end
  local take = { worker, count, '', group, 'all' }
  for i = 5, 4 + number do
    take[#take + 1] = Check.name(arg[i], 'queue')
  end
  local reply = '{"done":[],"left":{},"emptied":[]}'
  if #arg > 4 + number then
    local finish = { worker, '', '0' }
    for i = 5 + number, #arg do
      finish[#finish + 1] = arg[i]
    end
    reply = Commands['bulk.complete'](now, finish)
  end
  local ok, taken = pcall(Commands['wait.pop'], now, take)
  if not ok and #arg == 4 + number then
    error(taken, 0)
  end
  local jobs = ok and string.sub(taken, #'{"jobs":' + 1, -#',"again":null}' - 1) or '[]'
  return string.sub(reply, 1, -2) .. ',"jobs":' .. jobs .. ',"now":' .. Call.now .. '}'
end
