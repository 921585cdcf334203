-- Messages. Other clients compare their JSON as text, so the order of the keys is part of the format.

-- Events.log(json): to everybody who follows the log.
function Events.log(json)
  call('publish', Key.log, json)
end

-- Events.worker(worker, json): to one worker. Nobody is no worker.
function Events.worker(worker, json)
  if worker and worker ~= '' then
    call('publish', Key.worker(worker), json)
  end
end

-- Events.job(event, jid): to those who follow tracked jobs; the caller knows that it is tracked.
function Events.job(event, jid)
  call('publish', Key.event(event), jid)
end

-- Events.if_tracked(event, jid): the same, when the job is tracked.
function Events.if_tracked(event, jid)
  if call('zscore', Key.tracked, jid) then
    call('publish', Key.event(event), jid)
  end
end

-- Events.put(jid, queue): the queue as JSON, which whoever puts has already.
function Events.put(jid, queue)
  call('publish', Key.log, '{"jid":' .. encode(jid) .. ',"event":"put","queue":' .. queue .. '}')
end

function Events.completed(jid, queue)
  Events.log('{"jid":' .. encode(jid) .. ',"event":"completed","queue":' .. encode(queue) .. '}')
end

function Events.advanced(jid, queue, to)
  Events.log('{"jid":' .. encode(jid) .. ',"to":' .. encode(to) .. ',"event":"advanced","queue":'
    .. encode(queue) .. '}')
end

-- Events.failed(jid, failure, worker): a failure as Failures.make has it; `worker` is JSON already.
function Events.failed(jid, failure, worker)
  Events.log('{"message":' .. failure.message .. ',"jid":' .. encode(jid) .. ',"group":'
    .. failure.group .. ',"event":"failed","worker":' .. worker .. '}')
end

-- Events.canceled(jid, queue, worker): queue and worker are false for a job that is not there.
function Events.canceled(jid, queue, worker)
  local json = '{"jid":' .. encode(jid) .. ',"queue":' .. encode(queue)
    .. ',"event":"canceled","worker":' .. encode(worker) .. '}'
  Events.log(json)
  Events.worker(worker, json)
end

-- Events.lock_lost(jid, worker): the worker first, so that it stops, then the log.
function Events.lock_lost(jid, worker)
  local json = '{"jid":' .. encode(jid) .. ',"event":"lock_lost","worker":' .. encode(worker) .. '}'
  Events.worker(worker, json)
  Events.log(json)
end

function Events.config_set(option, value)
  Events.log('{"option":' .. encode(option) .. ',"event":"config_set","value":' .. encode(value)
    .. '}')
end

function Events.config_unset(option)
  Events.log('{"event":"config_unset","option":' .. encode(option) .. '}')
end
