-- Which file has which command, as name and file. A text, as a table would be built at each call;
-- every name has a space before it. A question mark follows where a command reads only: script.py reads
-- it too, and calls those as what writes nothing.
local FILES = [[
  put=put put.new=put requeue=put get=job? multiget=job? priority=job
  pop=pop peek=pop? heartbeat=heartbeat timeout=heartbeat
  wait.pop=wait wait.look=wait wait.leave=wait wait.wake=wait
  complete=complete fail=fail retry=retry giveback=giveback giveback.all=giveback
  progress=progress progress.get=progress? failed=failures? unfail=failures cancel=cancel
  depends=dependencies tag=tags track=track log=history
  jobs=queue? queues=queue? length=queue? pause=queue unpause=queue queue.forget=queue
  workers=worker? worker.deregister=worker worker.beat=worker worker.ask=worker worker.info=worker?
  stats=stats?
  config.get=config? config.set=config config.unset=config
  recur=recurring recur.get=recurring? recur.update=recurring recur.tag=recurring
  recur.untag=recurring unrecur=recurring recur.next=recurring?
  recur.pause=hold recur.unpause=hold recur.run=hold reschedule=reschedule
  edit=edit
  cron=cron cron.due=cron? cron.refill=cron
  bulk.move=bulk bulk.cancel=bulk bulk.closure=bulk? bulk.states=bulk?
  bulk.put=bulk bulk.complete=bulk complete.pop=bulk turn=turn
  jobs.walk=walk? archive.next=archive? archive.done=archive
  audit.scan=audit? audit.walk=audit? audit.look=audit? audit.repair=repair
  throttle.set=throttle throttle.get=throttle? throttle.locks=throttle? throttle.pending=throttle?
  throttle.ttl=throttle? throttle.release=throttle throttle.delete=throttle
  queue.throttle.get=throttle? queue.throttle.set=throttle
  once=once once.next=once
  operation.freeze=act operation.look=act? operation.step=act operation.fare=act?
  operation.rest=act operation.start=act operation.undo=act
  shard.leave=ship shard.arrive=ship shard.settle=ship shard.leaving=ship?
]]

setmetatable(Commands, {
  __index = function(commands, name)
    local _, stop = string.find(FILES, ' ' .. name .. '=', 1, true)
    if not stop then
      return nil
    end
    Load[string.match(FILES, '^%a+', stop + 1)]()
    return rawget(commands, name)
  end,
})
