-- Reading completed jobs before they are forgotten, each once: where an archiver stands is kept in Redis.

-- position(name) -> the score and the jid of the job that the archiver wrote last; nil and '' for none.
-- Stored as `<score> <jid>`.
local function position(name)
  local stored = call('hget', Key.archive, name)
  local score, jid = string.match(stored or '', '^(%S+) (.*)$')
  if not Check.finite(score) then
    return nil, ''
  end
  return score, jid
end

-- Whether jobs that completed behind the position may have been forgotten already: the `first` ones, up
-- to it, all are, and there was a reason to forget more.
local function has_gap(now, score, first)
  if not score or first > 0 then
    return false
  end
  return tonumber(score) < now - Config.number('jobs-history')
    or call('zcard', Key.completed) >= floor(Config.number('jobs-history-count'))
end

-- archive.next name settle count -> JSON {"from": position, "to": position, "jobs": [job], "times":
-- [completed at], "gone": how many, "gap": boolean}: the next jobs of that archiver, the oldest first,
-- that completed at least `settle` seconds ago; "gone" counts those whose data went before they were
-- read. Nothing moves before archive.done says the same two positions. Reads only.
Commands['archive.next'] = function(now, arg)
  local name = Check.name(arg[1], 'name')
  local settle = Check.number(arg[2], 'settle')
  local count = math.min(Check.count(arg[3], 'count'), 1000)
  local score, jid = position(name)
  local from = score and score .. ' ' .. jid or ''
  local first = score and Walk.after(Key.completed, 'zrange', score, jid) or 0
  local stop = math.min(call('zcount', Key.completed, '-inf', now - settle), first + count)
  local jobs, times, gone, to = {}, {}, 0, from
  if first < stop then
    local found = call('zrange', Key.completed, first, stop - 1, 'withscores')
    for i = 1, #found, 2 do
      local ok, fields = pcall(Job.fields, found[i])
      if ok and fields then
        jobs[#jobs + 1] = Job.shown(now, found[i], fields)
        times[#times + 1] = found[i + 1]
      else
        gone = gone + 1
      end
      to = found[i + 1] .. ' ' .. found[i]
    end
  end
  return '{"from":' .. encode(from) .. ',"to":' .. encode(to) .. ',"jobs":' .. Json.join(jobs)
    .. ',"times":' .. Json.list(times) .. ',"gone":' .. gone
    .. ',"gap":' .. (has_gap(now, score, first) and 'true' or 'false') .. '}'
end

-- archive.done name from to -> nil. The archiver has written what lies between the two positions.
-- Refuses: ARCHIVE_MOVED when it does not stand at `from` any more: another one goes by its name.
Commands['archive.done'] = function(_, arg)
  local name = Check.name(arg[1], 'name')
  local from = Check.text(arg[2], 'from')
  local to = Check.name(arg[3], 'to')
  if not Check.finite(string.match(to, '^(%S+) .')) then
    Check.must('to', 'a position that archive.next told', to)
  end
  local score, jid = position(name)
  local stands = score and score .. ' ' .. jid or ''
  if stands ~= from then
    Check.refuse('ARCHIVE_MOVED', 'The archive ' .. name .. ' stands at "' .. stands .. '", not at "'
      .. from .. '"')
  end
  call('hset', Key.archive, name, to)
  return nil
end
