-- Jobs that somebody wants to hear of.

-- All of them: JSON {jobs: [job], expired: [jid]}, in the order in which they were tracked.
local function tracked(now)
  local jobs, expired = {}, {}
  for _, jid in ipairs(call('zrange', Key.tracked, 0, -1)) do
    local job = Job.read(now, jid)
    if job then
      jobs[#jobs + 1] = job
    else
      expired[#expired + 1] = jid
    end
  end
  return '{"jobs":' .. Json.join(jobs) .. ',"expired":' .. Json.list(expired) .. '}'
end

-- track -> JSON {jobs, expired}. Reads only.
-- track track jid, track untrack jid -> the text 1 when that changed something, else 0.
-- Refuses: JOB_NOT_FOUND; but a jid that is tracked and gone can be untracked.
-- Publishes: track, untrack.
Commands['track'] = function(now, arg)
  local action = arg[1]
  if not action then
    return tracked(now)
  end
  if action ~= 'track' and action ~= 'untrack' then
    Check.must('action', 'track or untrack', action)
  end
  local jid = Check.name(arg[2], 'jid')
  local exists = call('hexists', Key.job(jid), 'jid') == 1
  if not exists and (action == 'track' or not call('zscore', Key.tracked, jid)) then
    Check.missing(jid)
  end
  Events.job(action, jid)
  if action == 'track' then
    return tostring(call('zadd', Key.tracked, now, jid))
  end
  return tostring(call('zrem', Key.tracked, jid))
end
