-- Forgetting completed jobs, by age and by number.

-- The most that one completion forgets, so that it holds the server for milliseconds only; the next
-- completions forget the rest.
local CHUNK, CHUNK_TEXT = 500, '500'

local function forget(jids)
  for _, jid in ipairs(jids) do
    local ok, known = pcall(call, 'hmget', Key.job(jid), 'state', 'tags')
    -- Whoever took it out of here without saying so keeps it, and whatever else lies there stays.
    if ok and known[1] == 'complete' then
      Job.destroy(jid, known[2])
      call('zrem', Key.tracked, jid)
    end
    call('zrem', Key.completed, jid)
  end
end

-- Prune.completed(now): by `jobs-history` and `jobs-history-count`.
function Prune.completed(now)
  local before = now - Config.number('jobs-history')
  forget(call('zrangebyscore', Key.completed, '-inf', before, 'limit', '0', CHUNK_TEXT))
  local most = math.max(floor(Config.number('jobs-history-count')), 0)
  local surplus = call('zcard', Key.completed) - most
  if surplus > 0 then
    forget(call('zrange', Key.completed, '0', math.min(surplus, CHUNK) - 1))
  end
end
