-- The tables that the other files hang their functions on, and the few names that all of them use.
-- This is the only file that is read as it stands: what is local here is seen everywhere, and what is
-- local elsewhere stays there. No file may set a global.

local call = redis.call
local encode = cjson.encode
local floor = math.floor
-- What is asked for hundreds of times a call: a local one is had for less than a global one.
local tonumber, type, ipairs, pcall, unpack = tonumber, type, ipairs, pcall, unpack
local byte = string.byte

-- The latest moment that is taken, in the year 5138: a later one is a mistake, and would owe children of
-- recurring jobs without end.
local LATEST = 1e11

-- Whether what is made here lives on from call to call. In the library, script.py says that it does.
local LASTS = false

-- File -> function that reads it; filled by script.py, which wraps each file in one.
-- EVALSHA builds every function anew at each call, which would cost more than the call's own work:
-- so a file is read when something of it is first asked for, and most calls read a few.
local Load = {}

local LAZY = {
  __index = function(part, name)
    setmetatable(part, nil)
    Load[part.file]()
    return part[name]
  end,
}

local function from(file)
  return setmetatable({ file = file }, LAZY)
end

local Json = from('json')
local Key = from('keys')
local Check = from('check')
local Events = from('events')
local Config = from('config')
local Stats = from('stats')
local History = from('history')
local Tags = from('tags')
local Job = from('job')
local Dependencies = from('dependencies')
local Failures = from('failures')
local Queue = from('queue')
local Worker = from('worker')
local Spawn = from('spawn')
local Expire = from('expire')
local Put = from('put')
local Prune = from('prune')
local Walk = from('walk')
local Place = from('place')
local Stored = from('stored')
local Sight = from('sight')
local Values = from('values')
local Checkup = from('checkup')
local Entries = from('entries')
local Ledger = from('ledger')
local Recurrence = from('recurrence')
local Scan = from('scan')
local Cron = from('cron')
local Throttle = from('throttle')
local Limits = from('limits')
local Whole = from('whole')

-- What belongs to one call alone. `now`: the moment as a text that Redis takes for a score, without
-- having to write the number, which costs as much as a small command. `command`: the one that is carried
-- out in the place of that which was called. `uncounted`: see stats.lua; `told`: see queue.lua; `unfinished`: see
-- pop.lua; `brief`: whether the jobs of the reply come without their history, which no worker needs to begin.
local Call = { now = '0' }

-- Command name -> function(now, arguments). Each file adds the commands of its concern; api.lua knows
-- which file has which.
local Commands = {}

-- function(keys, argv) -> the reply: the entry, which main.lua sets.
local Answer
