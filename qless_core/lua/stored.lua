-- Reads for the audit, which a key that holds something else does not break.

-- Stored.type_of(key) -> as Redis says it; `none` for no key.
function Stored.type_of(key)
  return call('type', key).ok
end

-- Stored.fields(jid, name...) -> the jid and these of one job's hash; nil when it is not there, or no hash. One
-- that has a class is a job, though it may not say its jid.
function Stored.fields(jid, ...)
  local key = Key.job(jid)
  local ok, known = pcall(call, 'hmget', key, 'jid', ...)
  if ok and (known[1] or call('hexists', key, 'klass') == 1) then
    return known
  end
  return nil
end

-- Stored.has(key, jid) -> the score in a sorted set, or false.
function Stored.has(key, jid)
  local ok, score = pcall(call, 'zscore', key, jid)
  return ok and score or false
end

-- Stored.has_member(key, jid) -> whether a set has it.
function Stored.has_member(key, jid)
  local ok, found = pcall(call, 'sismember', key, jid)
  return ok and found == 1
end
