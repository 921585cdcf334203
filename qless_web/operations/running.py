"""Does an operation, a chunk at a time, and leaves Redis more than half of its time for others.

Whatever is done is noted in Redis in the same call, so whoever goes on after a death, a pause or a
restart begins where the last one was.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from qless_core.clock import REAL
from qless_core.errors import JobError, QlessError, RedisUnavailable
from qless_core.keys import Keys
from qless_web import trail
from qless_web.operations import operation as store
from qless_web.operations import trash
from qless_web.operations.editing import Edits
from qless_web.operations.ordering import QUEUE
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.client import Client
    from qless_core.job import Job
    from qless_core.records import OperationStep
    from qless_web.operations.operation import Operation
    from qless_web.settings import Settings

log = logging.getLogger("qless.web.operations")

#: Jobs that one call is given at most, and seconds of the server's time that it begins jobs for:
#: whoever pops meanwhile waits for so long at worst, and then for the end of the last job.
CHUNK: Final = 200
STEP_S: Final = 0.0004
#: The same where this process comes too late to its turns, so that it needs fewer of them.
_LATE_STEP_S: Final = 0.0008
#: How much of the server's time an operation takes, at most.
SHARE: Final = 0.48
#: Seconds of the server's time that a call takes beside what it tells itself.
_CALL_S: Final = 0.00005
#: Seconds that are made up for at most where this process was late: more would be a burst.
_LATE_S: Final = 0.05
#: Jobs of an edit that one call is given at most, as the data of each is read before.
_EDITED: Final = 50
#: Seconds until the next try of a run that broke, as when the server takes no more.
AGAIN_S: Final = 3.0
#: Seconds between two looks at how many of the retried have failed again; jobs of one look.
_LOOK_S: Final = 1.0
_LOOKS: Final = 4
_LOOKED_AT: Final = 500
#: So many must have ended before their share says anything.
ENOUGH: Final = 20
#: Seconds between two looks whether a slow operation is to rest.
NAP_S: Final = 0.5
#: Seconds after which a slow one lets others have their turn, where some wait.
_SLICE_S: Final = 2.0
#: The state of a run that let others have their turn.
YIELDED: Final = "yielded"

#: The client whose jobs the operations of this thread are about, and how long a trash it has.
_bench: ContextVar[Bench] = ContextVar("qless_operations")


class Bench:
    """What the console's own jobs work with.

    Args:
        client: whose jobs operations are about.
        settings: `trash_size`, `audit_days` and `audit_size` count.

    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self.client = client
        self.trash_bytes = settings.trash_size * 1024 * 1024
        self._settings = settings

    def note(self, operation: Operation) -> None:
        """Note in the audit that an operation has ended, and what came of it.

        Raises:
            QlessError: Redis refused.

        """
        entry = trail.Entry(
            action="operation_ended",
            who=operation.who,
            address=operation.address,
            on=operation.on,
            counts={"done": operation.done, **operation.left},
            note=operation.note,
        )
        told = self._settings
        trail.write(self.client, entry, days=told.audit_days, most=told.audit_size)

    @contextmanager
    def __call__(self, _job: Job) -> Iterator[None]:
        """Let a job of the console know it: as middleware."""
        token = _bench.set(self)
        try:
            yield
        finally:
            _bench.reset(token)


def perform(job: Job) -> None:
    """Do one run of an operation: what the worker of the console calls."""
    name, run = str(job["operation"]), int(job["run"])
    try:
        delay = _work(_bench.get(), name, run)
    except QlessError as error:
        log.warning("operation %s goes on in %g seconds: %s", name, AGAIN_S, error)
        delay = AGAIN_S
    if delay:
        _put_off(job, delay)


def _work(bench: Bench, name: str, run: int) -> float:
    """Do a run of an operation; answers after how many seconds it goes on, 0 where it does not.

    Raises:
        QlessError: Redis is away, or refuses.

    """
    operation = store.load(bench.client, name)
    if operation is None or operation.run != run:
        return 0
    log.info("operation %s: %s of %s jobs", name, operation.action, operation.total)
    state = Run(bench, operation).go()
    return min(NAP_S, 1 / operation.rate) if state == YIELDED else 0


def _put_off(job: Job, delay: float) -> None:
    """Let a job of the console go on later; where Redis is away, wait until it can be told that."""
    while True:
        try:
            job.retry(delay=delay)
        except RedisUnavailable as error:
            if not error.passes:
                raise
            REAL.wait(NAP_S)
        except JobError as error:
            log.info("another process goes on with %s: %s", job.jid, error)
            return
        else:
            return


class Run:
    """One run of an operation.

    Args:
        bench: whose jobs.
        operation: as it is now.

    """

    def __init__(self, bench: Bench, operation: Operation) -> None:
        self._bench = bench
        self._client = bench.client
        self._operation = operation
        self._edits = Edits(bench.client, operation.id) if operation.action == "edit" else None
        self._at = operation.at
        self._began = REAL.monotonic()
        self._looked = self._began
        self._free = self._began
        self._kept = 0

    def go(self, until: float | None = None) -> str:
        """Do all that is left, unless it is told to rest; answers the state that it is in.

        Args:
            until: the moment at which to leave off, by `REAL.monotonic`; None for none.

        Raises:
            QlessError: Redis is away; the next run goes on.

        """
        state = "running"
        while state == "running" and not (until is not None and REAL.monotonic() >= until):
            count = self._allowed()
            if not count:
                state = self._nap()
                continue
            began = REAL.monotonic()
            step = self._step(count)
            state = step.state
            if state == "running":
                self._look_after(step)
                self._leave_to_others(began, step.took_s)
        self._end(state)
        return state

    def _leave_to_others(self, began: float, took_s: float) -> None:
        """Wait until the server has had its time for others, since a call that began then."""
        self._free = max(self._free, began - _LATE_S) + (took_s + _CALL_S) / SHARE
        REAL.wait(max(0.0, self._free - REAL.monotonic()))

    def _allowed(self) -> int:
        """Say how many jobs may be done now."""
        rate = self._operation.rate
        most = _EDITED if self._edits else CHUNK
        if not rate:
            return most
        due = (REAL.monotonic() - self._began) * rate - (self._at - self._operation.at)
        return min(most, int(due) + (1 if self._at == self._operation.at else 0))

    def _nap(self) -> str:
        """Wait until the next job is due, and see whether it is to be done."""
        rest = 1 / self._operation.rate
        REAL.wait(min(NAP_S, rest))
        self._watch()
        found = store.load(self._client, self._operation.id)
        if found is None:
            return "gone"
        if found.run != self._operation.run:
            return "superseded"
        if found.state not in ("queued", "running"):
            return found.state
        return YIELDED if self._others_wait() else "running"

    def _others_wait(self) -> bool:
        """Say whether another operation waits behind this one, which has had its turn."""
        if REAL.monotonic() - self._began < _SLICE_S:
            return False
        workshop = Keys(self._client.keys.web("ops:"))
        (number,) = send(self._client, call("zcard", workshop.work(QUEUE)))
        return bool(number)

    def _step(self, count: int) -> OperationStep:
        operation = self._operation
        edits = self._edits(self._at, count) if self._edits else ()
        is_late = REAL.monotonic() - self._free > _LATE_S / 2
        seconds = _LATE_STEP_S if is_late else STEP_S
        step = self._client.commands.operation_step(
            operation.id, operation.run, count, seconds, edits
        )
        self._at = step.at
        self._kept += step.kept
        return step

    def _look_after(self, _step: OperationStep) -> None:
        """Do now and then what is not done at each step."""
        if REAL.monotonic() - self._looked >= _LOOK_S:
            self._watch()
            if self._kept:
                trash.shrink(self._client, self._bench.trash_bytes)

    def _watch(self) -> None:
        """Stop where too many have failed again."""
        if REAL.monotonic() - self._looked < _LOOK_S:
            return
        self._looked = REAL.monotonic()
        percent = self._operation.stop_percent
        if not percent:
            return
        failed, ended = fare(self._client, self._operation.id, self._at)
        if ended >= ENOUGH and failed * 100 > percent * ended:
            self._client.commands.operation_rest(self._operation.id, "stopped", "failing")

    def _end(self, state: str) -> None:
        if self._kept:
            trash.shrink(self._client, self._bench.trash_bytes)
        found = store.load(self._client, self._operation.id) if state == "done" else None
        if found is not None:
            self._bench.note(found)


def fare(client: Client, name: str, at: int) -> tuple[int, int]:
    """See what became of the jobs that an operation put to work, and note it.

    Jobs run about in the order in which they were put, so those that have all ended are passed
    over the next time.

    Returns:
        How many have failed again, and how many have ended, those among them; as far as was looked.

    Raises:
        QlessError: Redis could not be asked.

    """
    key = store.hash_key(client.keys, name)
    names = ("passed", "passed_failed", "passed_ended")
    (told,) = send(client, call("hmget", key, *names))
    passed, failed, ended = (int(each or 0) for each in told)
    start, is_settled = passed, True
    open_failed = open_ended = 0
    for _ in range(_LOOKS):
        found = client.commands.operation_fare(name, start, _LOOKED_AT)
        is_settled = is_settled and found.looked == _LOOKED_AT and found.ended == found.looked
        if is_settled:
            passed, failed, ended = passed + _LOOKED_AT, failed + found.failed, ended + found.ended
        else:
            open_failed, open_ended = open_failed + found.failed, open_ended + found.ended
        start += _LOOKED_AT
        if start >= at:
            break
    store.change(
        client,
        name,
        passed=passed,
        passed_failed=failed,
        passed_ended=ended,
        failed_again=failed + open_failed,
        ended_again=ended + open_ended,
    )
    return failed + open_failed, ended + open_ended
