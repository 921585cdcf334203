"""Two clients whose clocks differ by minutes: nothing is lost, nobody takes what is another's.

Worker `v:jobs` has the wrong clock; what names no worker is called by both in turn.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from tests.model.machine import WORKERS, QueueMachine, run

#: Commands that a job's worker alone may give -> where in the arguments are worker and queue.
OWNERS = {"heartbeat": (1, None), "complete": (1, 2), "fail": (1, None), "retry": (2, 1)}


class TwoClocksMachine(QueueMachine):
    def __init__(self):
        super().__init__()
        self.skew = 0
        self.turn = False

    @initialize(minutes=st.sampled_from((-60, -9, -2, -1.5, 1.5, 2, 9, 60)))
    def set_clocks(self, minutes):
        self.skew = 60 * minutes

    def moment(self, *arguments):
        named = [argument for argument in arguments if argument in WORKERS]
        self.turn = not self.turn
        is_wrong = named[0] == WORKERS[1] if named else self.turn
        return self.now + self.skew if is_wrong else self.now

    def latest(self):
        return self.now + max(self.skew, 0)

    def step(self, command, *arguments):
        before = self.jobs()
        refusal = super().step(command, *arguments)

        self.nothing_is_lost(before, command, arguments)
        if command in OWNERS and (jid := arguments[0]) in before:
            job = before[jid]
            worker, queue = OWNERS[command]
            may = (
                job["state"] == "running"
                and job["worker"] == arguments[worker]
                and (queue is None or job["queue"] == arguments[queue])
            )
            allowed = not refusal or refusal[0] == "BAD_ARGUMENT"
            assert allowed if may else refusal, f"{command} {arguments} of {job}"

    def jobs(self):
        """Read the jobs as they were found stored after the last step."""
        return {
            value["jid"]: value
            for key, value in self.found.items()
            if key.startswith("ql:j:") and isinstance(value, dict)
        }

    def nothing_is_lost(self, before, command, arguments):
        after = self.jobs()
        for jid in before.keys() - after.keys():
            is_old = command == "complete" and (
                before[jid]["state"] == "complete" or jid == arguments[0]
            )
            is_cancelled = command in ("cancel", "bulk.cancel") and jid in arguments
            assert is_old or is_cancelled, f"{jid} is lost by {command} {arguments}"
        if command in ("put", "requeue") and self.heard.reply is not None:
            assert arguments[2] in after


def test_with_two_clocks_nothing_is_lost_or_taken(redis, script):
    run(TwoClocksMachine, redis, script, examples=60)
