"""Runs the script for a machine: a call, what it answered and published, and all that is stored."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from redis.exceptions import ResponseError

#: `CODE user_script:<line>: Command(): sentence`, the form of every refusal.
REFUSAL = re.compile(r"([A-Z_]+) user_script:\d+: .*?\(\): (.+)", re.DOTALL)

#: Everything under the namespace, in one round trip: a list of [key, type, [content]].
DUMP = """
local read = {
  hash = function(key) return redis.call('hgetall', key) end,
  list = function(key) return redis.call('lrange', key, 0, -1) end,
  set = function(key) return redis.call('smembers', key) end,
  zset = function(key) return redis.call('zrange', key, 0, -1, 'withscores') end,
}
local all = {}
for i, key in ipairs(redis.call('keys', 'ql:*')) do
  local kind = redis.call('type', key).ok
  all[i] = { key, kind, (read[kind] or function() return {} end)(key) }
end
return all
"""

#: The fields of jobs and recurring jobs that are numbers, where they are not "".
NUMBERS = frozenset(
    {"backlog", "count", "expires", "grace", "interval"}
    | {"priority", "remaining", "retries", "scheduled", "time"}
)
TEXTS_OF_JSON = frozenset({"failure", "tags"})


@dataclass
class Answer:
    reply: object
    #: `(code, sentence)` of a refusal.
    refusal: tuple | None
    events: list


class Driver:
    """Calls by EVALSHA, or, where the server has them, by turns as a function of it."""

    def __init__(self, redis, script):
        self.redis = redis
        self.ways = [("EVALSHA", redis.script_load(script.source))]
        self.dump = redis.script_load(DUMP)
        if hasattr(script, "library") and has_functions(redis):
            redis.function_load(script.library, replace=True)
            self.ways.append(("FCALL", script.name))
        self.heard = redis.pubsub(ignore_subscribe_messages=True)
        self.heard.psubscribe("ql:*", "over")

    def close(self):
        self.heard.close()

    def call(self, command, *arguments):
        """Call; answers what came of it."""
        with self.redis.pipeline(transaction=False) as pipe:
            self._add(pipe, command, arguments)
            pipe.publish("over", "")
            reply, _ = pipe.execute(raise_on_error=False)
        refusal = None
        if isinstance(reply, ResponseError):
            found = REFUSAL.fullmatch(str(reply))
            assert found, f"no refusal but a fault: {reply}"
            reply, refusal = None, found.groups()
        elif isinstance(reply, Exception):
            raise reply
        return Answer(reply, refusal, self._events())

    def ask(self, calls):
        """Make calls that only read; answers the replies, and all that is stored."""
        with self.redis.pipeline(transaction=False) as pipe:
            for command, *arguments in calls:
                self._add(pipe, command, arguments)
            pipe.evalsha(self.dump, 0)
            *replies, dump = pipe.execute()
        return replies, {key: read(key, kind, content) for key, kind, content in dump}

    def _add(self, pipe, command, arguments):
        self.ways.append(self.ways.pop(0))
        way, name = self.ways[0]
        pipe.execute_command(way, name, 0, command, *arguments)

    def _events(self):
        events = []
        while True:
            message = self.heard.get_message(timeout=10)
            if message and message["channel"] == "over":
                return events
            if message:
                events.append([message["channel"], message["data"]])


def has_functions(redis):
    try:
        redis.function_list()
    except ResponseError:
        return False
    return True


def read(key, kind, content):
    """Read what is stored under a key by value, so that the model need not print numbers."""
    if kind == "zset":
        return {name: float(score) for name, score in pairs(content)}
    if kind == "hash":
        return read_hash(key, content)
    if kind == "list" and key.startswith("ql:j:"):
        return [json.loads(item) for item in content]
    return set(content) if kind == "set" else content


def read_hash(key, content):
    if key == "ql:config":
        return dict(pairs(content))
    if key.startswith("ql:s:"):
        return {name: float(value) for name, value in pairs(content)}
    fields = {name: value_of(name, text) for name, text in pairs(content)}
    if not fields.get("failure"):
        fields.pop("failure", None)
    return fields


def pairs(content):
    return zip(content[::2], content[1::2], strict=True)


def value_of(name, text):
    if name in NUMBERS and text != "":
        return float(text)
    return json.loads(text) if name in TEXTS_OF_JSON else text
