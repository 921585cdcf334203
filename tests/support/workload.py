"""Random work with the script, as clients of the field do it, for tests of what it leaves."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from redis.exceptions import ResponseError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    #: Calls the script: the command, the moment, the arguments.
    Call = Callable[..., Any]

QUEUES = ("mail", "q", "a/b")
WORKERS = ("w-1", "w-2", "w-3")
THROTTLES = ("th-1", "th-2")
TAGS = ("red", "blue", "ü", "x:y")


class Workload:
    """Does one random thing after another; time goes on a little with each.

    Attributes:
        now: the moment, seconds.
        refused: how many calls were refused, as they may be.
        done: how many were not.

    """

    def __init__(
        self, call: Call, rng: random.Random, *, jids: int = 60, throttles: bool = False
    ) -> None:
        self.now = 100_000_000.0
        self.refused = 0
        self.done = 0
        self._call = call
        self._rng = rng
        self._jids = [f"job-{number}" for number in range(jids)]
        self._running: dict[str, tuple[str, str]] = {}
        self._steps = [
            *[self._put] * 6,
            *[self._pop] * 8,
            *[self._complete] * 5,
            *[self._fail] * 2,
            *[self._retry] * 2,
            self._heartbeat,
            self._timeout,
            *[self._cancel] * 2,
            *[self._depends] * 2,
            *[self._tag] * 2,
            self._track,
            self._priority,
            self._recur,
            self._unrecur,
            self._unfail,
            self._move,
            self._pause,
            *([self._throttle] * 2 if throttles else ()),
            self._complete_many,
            self._cron,
            self._wait,
        ]

    def run(self, steps: int) -> None:
        """Do so many things."""
        for _ in range(steps):
            self.now += self._rng.choice((0, 0.001, 0.5, 3))
            self._rng.choice(self._steps)()

    def _do(self, command: str, *args: str | float) -> Any:
        with suppress(ResponseError):
            reply = self._call(command, self.now, *args)
            self.done += 1
            return reply
        self.refused += 1
        return None

    def _some(self, most: int = 3) -> list[str]:
        return self._rng.sample(self._jids, self._rng.randint(1, most))

    def _held(self) -> tuple[str, str, str]:
        """Choose a job that was popped, with its queue and who popped it."""
        jid = self._rng.choice([*self._running, *self._some(1)])
        return jid, *self._running.get(jid, (QUEUES[0], WORKERS[0]))

    def _put(self) -> None:
        rng = self._rng
        options: list[str | float] = []
        if rng.random() < 0.4:
            options += ["priority", rng.randint(-5, 5)]
        if rng.random() < 0.4:
            options += ["tags", json.dumps(rng.sample(TAGS, rng.randint(0, 3)))]
        if rng.random() < 0.4:
            options += ["retries", rng.randint(0, 3)]
        if rng.random() < 0.3:
            options += ["depends", json.dumps(self._some())]
        if self._throttle in self._steps and rng.random() < 0.3:
            options += ["throttles", json.dumps(rng.sample(THROTTLES, rng.randint(1, 2)))]
        delay = rng.choice((0, 0, 0, 30, -1))
        jid = rng.choice(self._jids)
        me = rng.choice(WORKERS)
        self._do("put", me, rng.choice(QUEUES), jid, "K", "{}", delay, *options)

    def _pop(self) -> None:
        worker, queue = self._rng.choice(WORKERS), self._rng.choice(QUEUES)
        for job in json.loads(self._do("pop", queue, worker, self._rng.randint(1, 4)) or "[]"):
            self._running[job["jid"]] = (queue, worker)

    def _complete(self) -> None:
        jid, queue, worker = self._held()
        options: list[str | float] = []
        if self._rng.random() < 0.3:
            options += ["next", self._rng.choice(QUEUES)]
            if self._rng.random() < 0.4:
                options += ["delay", 20]
            if self._rng.random() < 0.4:
                options += ["depends", json.dumps(self._some())]
        self._do("complete", jid, worker, queue, '{"n":1}', *options)

    def _fail(self) -> None:
        jid, _, worker = self._held()
        self._do("fail", jid, worker, self._rng.choice(("boom", "", "net:io")), "what happened")

    def _retry(self) -> None:
        jid, queue, worker = self._held()
        self._do("retry", jid, queue, worker, self._rng.choice((0, 15)))

    def _heartbeat(self) -> None:
        jid, _, worker = self._held()
        self._do("heartbeat", jid, worker)

    def _timeout(self) -> None:
        self._do("timeout", self._held()[0])

    def _cancel(self) -> None:
        self._do("cancel", *self._some())

    def _depends(self) -> None:
        switch = self._rng.choice(("on", "off"))
        others = ["all"] if switch == "off" and self._rng.random() < 0.5 else self._some()
        self._do("depends", self._rng.choice(self._jids), switch, *others)

    def _tag(self) -> None:
        action = self._rng.choice(("add", "remove"))
        self._do("tag", action, self._rng.choice(self._jids), *self._rng.sample(TAGS, 2))

    def _track(self) -> None:
        self._do("track", self._rng.choice(("track", "untrack")), self._rng.choice(self._jids))

    def _priority(self) -> None:
        self._do("priority", self._rng.choice(self._jids), self._rng.randint(-9, 9))

    def _recur(self) -> None:
        jid = self._rng.choice(("tick", "tock"))
        timing = ("interval", self._rng.choice((40, 90.5)), 0)
        options = ("backlog", 2, "tags", '["red"]')
        self._do("recur", self._rng.choice(QUEUES), jid, "K", "{}", *timing, *options)

    def _unrecur(self) -> None:
        self._do("unrecur", self._rng.choice(("tick", "tock")))

    def _unfail(self) -> None:
        group = self._rng.choice(("boom", "", "net:io", "failed-retries-q"))
        self._do("unfail", self._rng.choice(QUEUES), group, self._rng.randint(1, 5))

    def _move(self) -> None:
        pairs = [part for jid in self._some() for part in (jid, "")]
        if self._rng.random() < 0.5:
            self._do("bulk.move", "", self._rng.choice(("", *QUEUES)), *pairs)
        else:
            self._do("bulk.cancel", "", *pairs)

    def _throttle(self) -> None:
        rng = self._rng
        throttle = rng.choice(THROTTLES)
        step = rng.randrange(6)
        if step < 3:
            self._do("throttle.set", throttle, rng.randint(0, 3))
        elif step == 3:
            self._do("throttle.release", throttle, *self._some())
        elif step == 4:
            self._do("throttle.delete", throttle)
        else:
            self._do("queue.throttle.set", rng.choice(QUEUES), rng.randint(0, 4))

    def _complete_many(self) -> None:
        jid, queue, worker = self._held()
        if self._rng.random() < 0.5:
            self._do("complete.pop", queue, 2, jid, worker, queue, "{}")
        else:
            following = self._rng.choice(("", QUEUES[1]))
            self._do("bulk.complete", worker, following, 0, jid, queue, "{}")

    def _cron(self) -> None:
        if self._rng.random() < 0.3:
            self._do("unrecur", "noon")
        else:
            runs = [int(self.now) + 30 * number for number in range(1, 40)]
            plan = ("*/1 * * * *", "UTC", json.dumps(runs))
            self._do("cron", self._rng.choice(QUEUES), "noon", "K", "{}", *plan)

    def _pause(self) -> None:
        self._do(self._rng.choice(("pause", "unpause", "unpause")), self._rng.choice(QUEUES))

    def _wait(self) -> None:
        self.now += self._rng.choice((5, 61, 75, 300))
