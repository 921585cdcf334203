"""Cron jobs kept going: their runs are planned ahead here, as the script cannot compute them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from qless_core.cron import Cron
from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from qless_core.clock import Clock
    from qless_core.commands import Commands
    from qless_core.records import CronJob

#: Seconds between two looks of one client.
EVERY_S: Final = 60

#: How many cron jobs are looked at in one call.
PAGE: Final = 100

_log = logging.getLogger("qless.cron")


class CronPlans:
    """`client.cron_plans`: the runs to come of every cron job.

    Any number of clients may tend them at the same time: the script takes each extension once.
    """

    def __init__(self, commands: Commands, clock: Clock) -> None:
        self._commands = commands
        self._clock = clock
        self._next_look = float("-inf")

    def __repr__(self) -> str:
        return "<CronPlans>"

    def tend(self) -> int:
        """Extend the plans that run out, at most once a minute; answers how many were extended.

        Popping does this in passing, so that cron jobs go on wherever jobs are popped. A plan is
        extended when half of what lay ahead is over, and costs one read where there is none.

        Raises:
            RedisUnavailable: the server cannot be reached.

        """
        moment = self._clock.monotonic()
        if moment < self._next_look:
            return 0
        self._next_look = moment + EVERY_S
        return self.extend()

    def extend(self) -> int:
        """Extend the plans that run out, now; answers how many were extended.

        Raises:
            RedisUnavailable: the server cannot be reached.

        """
        extended = passed = 0
        met: set[str] = set()
        while True:
            due = self._commands.cron_due(PAGE, passed)
            for job in due.jobs:
                if job.jid not in met and self._extend(job, due.now):
                    extended += 1
                else:
                    passed += 1  # it stays there, before those that are not on this page
                met.add(job.jid)
            passed += due.seen - len(due.jobs)
            if due.seen < PAGE:
                return extended

    def _extend(self, job: CronJob, now: float) -> bool:
        """Extend the plan of one cron job; answers whether that could be done, here and now."""
        try:
            runs = Cron(job.cron, job.timezone).plan(job.planned, now, job.backlog)
            return bool(runs) and bool(
                self._commands.cron_refill(job.jid, job.cron, job.timezone, job.planned, runs)
            )
        except (BadArgument, ValueError, OverflowError) as problem:
            # Whatever is stored of it, the others are to go on.
            _log.warning("The cron job %s is planned no further: %s", job.jid, problem)
            return False
