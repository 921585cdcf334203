"""The script alone, on our server and the system's Redis, at moments given as numbers."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import pytest
from redis.exceptions import ResponseError

from qless_core.embedded import EmbeddedServer
from qless_core.script import Script
from tests.support.servers import usual

#: The servers to run everything on; recordings and the model are tried on the older ones, too.
SERVERS = usual()

#: `CODE user_script:<line>: Command(): sentence`, the form of every refusal.
REFUSAL = re.compile(r"([A-Z_]+) user_script:\d+: (.*?)\(\): (.+)", re.DOTALL)


class Lua:
    """Calls the script: no keys, text arguments.

    On Valkey 9 as a function of the server, as our client does, elsewhere by EVALSHA, as any client
    of the field does: so each way is held to every test.
    """

    def __init__(self, redis, script):
        self.redis = redis
        self.script = script
        self.sha = redis.script_load(script.source)
        self.call_as_script()
        if redis.info("server").get("valkey_version", "").startswith("9."):
            redis.function_load(script.library, replace=True)
            self._how = ("FCALL", script.name, 0)
        self._messages = redis.pubsub(ignore_subscribe_messages=True)

    def call_as_script(self):
        """Call by EVALSHA from now on, on every server."""
        self._how = ("EVALSHA", self.sha, 0)

    def __call__(self, *args):
        return self.redis.execute_command(*self._how, *args)

    def json(self, *args):
        return json.loads(self(*args))

    def job(self, jid, now=0):
        return self.json("get", now, jid)

    def put(self, now, jid, *options, queue="q", me="w", data="{}", delay=0):
        return self("put", now, me, queue, jid, "K", data, delay, *options)

    def pop(self, now, count=1, queue="q", worker="w"):
        return self.json("pop", now, queue, worker, count)

    def popped(self, now, count=1, queue="q", worker="w"):
        return [job["jid"] for job in self.pop(now, count, queue, worker)]

    @contextmanager
    def refused(self, code, phrase=""):
        """Expect a refusal with this code and phrase, and that it writes nothing."""
        before = self.stored()
        with pytest.raises(ResponseError) as caught:
            yield
        found = REFUSAL.fullmatch(str(caught.value))
        assert found, str(caught.value)
        assert found[1] == code
        assert phrase in found[3]
        assert self.stored() == before

    @contextmanager
    def hearing(self):
        """Collect what is published meanwhile, as [channel, text] in order."""
        heard = []
        self._messages.psubscribe(f"{self.script.namespace}*", "over")
        self.redis.publish("over", "begin")
        while self._next() != ["over", "begin"]:
            pass
        yield heard
        self.redis.publish("over", "end")
        while (message := self._next()) != ["over", "end"]:
            heard.append(message)

    def _next(self):
        while (message := self._messages.get_message(timeout=10)) is None:
            pass
        return [message["channel"], message["data"]]

    def stored(self):
        """Read everything under the namespace."""
        read = {
            "hash": self.redis.hgetall,
            "list": lambda key: self.redis.lrange(key, 0, -1),
            "set": self.redis.smembers,
            "zset": lambda key: dict(self.redis.zrange(key, 0, -1, withscores=True)),
            # Its sum, as it may be no text.
            "string": lambda key: self.redis.eval(
                "return redis.sha1hex(redis.call('get', KEYS[1]))", 1, key
            ),
        }
        keys = sorted(self.redis.scan_iter(f"{self.script.namespace}*", count=1000))
        return {key: read[self.redis.type(key)](key) for key in keys}

    def close(self):
        self._messages.close()


@pytest.fixture(scope="session", params=list(SERVERS))
def server(request):
    """Run a private server of each kind."""
    with EmbeddedServer(binary=SERVERS[request.param]) as server:
        yield server


@pytest.fixture(scope="session")
def script():
    return Script()


@pytest.fixture
def lua(redis, script):
    """Call the script on the empty server."""
    lua = Lua(redis, script)
    yield lua
    lua.close()
