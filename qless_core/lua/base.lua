-- The tables that the other files hang their functions on, and the few names that all of them use.
-- This is the only file that is not wrapped in a block of its own: what is local here is seen
-- everywhere, and what is local elsewhere stays there. No file may set a global.

local call = redis.call
local encode = cjson.encode
local floor = math.floor

local Json, Key, Check, Config, Events = {}, {}, {}, {}, {}
local Stats, History, Tags, Dependencies, Failures = {}, {}, {}, {}, {}
local Job, Queue, Worker, Spawn, Expire, Prune = {}, {}, {}, {}, {}, {}

-- Command name -> function(now, arguments). Each file adds the commands of its concern.
local Commands = {}
