-- Looks at what is kept about all jobs: whether each queue and each group is on its list, and whether figures and
-- completed jobs are there for longer than the options say.

function Ledger.queue(see, queue)
  see.cost(1)
  if not Stored.has(Key.queues, queue) then
    for place in pairs(Place.FITS) do
      if call('exists', Place.key(place, queue), Key.recur(queue)) > 0 then
        see.add('queue-not-listed', 'it has jobs, but is not among the queues', 'queue', queue)
        return
      end
    end
  end
end

function Ledger.group(see, group)
  see.cost(2)
  if call('exists', Key.failed(group)) == 1 and not Stored.has_member(Key.failures, group) then
    see.add('group-not-listed', 'it has jobs, but is not among the groups', 'group', group)
  end
end

-- Figures of a day: they go after `stats-history` days, by the next day's first figure or by their expiry.
function Ledger.stats(see, key)
  local kind, bin = string.match(string.sub(key, #Place.FIGURES + 1), '^(%a+):(%d+):')
  local days = math.max(floor(Config.number('stats-history')), 0)
  see.cost(1)
  if (kind == 'stats' or kind == 'wait' or kind == 'run')
    and Stats.bin(see.now) - tonumber(bin) > days * 86400 and call('ttl', key) == -1 then
    see.add('old-statistics', 'they are of ' .. bin .. ', older than ' .. days .. ' days', 'stats', key)
  elseif kind ~= 'stats' and kind ~= 'wait' and kind ~= 'run' then
    see.add('unknown-key', 'nobody knows what it is', 'stats', key)
  end
end

local function overdue(now)
  local before = now - Config.number('jobs-history')
  local surplus = call('zcard', Key.completed) - math.max(floor(Config.number('jobs-history-count')), 0)
  return math.max(call('zcount', Key.completed, '-inf', before), surplus)
end

function Ledger.completed(see)
  local number = overdue(see.now)
  if number > 0 then
    see.add('old-completed', number .. ' completed jobs are kept longer than the options say',
      'completed')
  end
end
