"""What is ordered of an operation: start, pause, go on, stop. The work itself is another's."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from qless_core.client import Client
from qless_core.errors import QlessError
from qless_web.operations import operation as store
from qless_web.sending import call, send

if TYPE_CHECKING:
    from qless_web.operations.operation import Operation

log = logging.getLogger("qless.web.operations")

#: The queue of the console's own jobs, in a namespace of its own.
QUEUE: Final = "operations"
#: Seconds of silence after which another process goes on with an operation.
LOCK_S: Final = 15
#: Seconds after its order in which an operation is left to whoever ordered it: they put its job,
#: having noted who that was, or do it at once, and say so time and again.
_THEIRS_S: Final = 15
#: How often others may go on with it: more often than processes will ever die.
_RETRIES: Final = 1_000_000
#: What runs them, as qless imports it.
KLASS: Final = "qless_web.operations.running.perform"


def workshop(client: Client, worker_name: str | None = None) -> Client:
    """Make the client of the console's own jobs, in the same Redis.

    Args:
        client: the client of the queue.
        worker_name: in whose name they are worked.

    """
    return Client(
        namespace=client.keys.web("ops:"),
        redis=client.redis,
        clock=client.clock,
        worker_name=worker_name,
    )


def begin(client: Client, operation: Operation) -> Operation:
    """Order an operation, whose job is put by `put_soon`: of several who do at once, one does.

    Raises:
        QlessError: Redis refused.

    """
    if client.commands.operation_start(operation.id, operation.run):
        _forget_old(client)
    return _again(client, operation)


def begin_undo(client: Client, undo: Operation) -> bool:
    """Order what undoes another operation, and note that there; where it cannot be, forget it.

    Returns:
        Whether it was ordered: the other one is there, rests, and was not undone before.

    Raises:
        QlessError: Redis refused.

    """
    if client.commands.operation_undo(undo.id):
        _forget_old(client)
        return True
    send(client, *(call("unlink", part(client.keys, undo.id)) for part in store.PARTS))
    return False


def _forget_old(client: Client) -> None:
    index, old = store.index_key(client.keys), client.now() - store.KEPT_S
    send(
        client,
        call("zremrangebyrank", index, 0, -store.MOST - 1),
        call("zremrangebyscore", index, "-inf", old),
    )


def put_soon(client: Client, operation: str) -> None:
    """Put the job that does an operation that was ordered.

    Where that fails, whoever looks for operations that stand still does it.
    """
    try:
        found = store.load(client, operation)
        if found is not None and found.state in ("queued", "running"):
            put(client, operation, found.run)
    except QlessError as error:
        log.warning("operation %s has to wait for its job: %s", operation, error)


def put(client: Client, operation: str, run: int) -> None:
    """Put the job that does an operation.

    Raises:
        QlessError: Redis refused.

    """
    with workshop(client, "console") as shop:
        shop.queues[QUEUE].put(
            KLASS,
            {"operation": operation, "run": run},
            jid=job_of(operation, run),
            retries=_RETRIES,
            heartbeat=LOCK_S,
            replace=False,
        )


def job_of(operation: str, run: int) -> str:
    """Name the job that does a run of an operation."""
    return f"{operation}-{run}"


def pause(client: Client, operation: Operation) -> Operation:
    """Let an operation rest after the chunk that it is at.

    Raises:
        QlessError: Redis refused.

    """
    return _rest(client, operation, "paused")


def stop(client: Client, operation: Operation) -> Operation:
    """End an operation after the chunk that it is at; what is done stays done.

    Raises:
        QlessError: Redis refused.

    """
    return _rest(client, operation, "stopped")


def _rest(client: Client, operation: Operation, state: store.State) -> Operation:
    if operation.state in ("queued", "running", "paused") and operation.at < operation.total:
        client.commands.operation_rest(operation.id, state)
    return _again(client, operation)


def _again(client: Client, operation: Operation) -> Operation:
    return store.load(client, operation.id) or operation


def mend(client: Client) -> int:
    """Put the job of each operation that waits for one and has none; answers how many.

    A process may die between the order of an operation and the job that does it.

    Raises:
        QlessError: Redis could not be asked.

    """
    (names,) = send(client, call("zrevrange", store.index_key(client.keys), 0, 99))
    keys = [store.hash_key(client.keys, name) for name in names]
    asked = [call("hmget", key, "state", "run", "ordered") for key in keys]
    found = send(client, *asked) if keys else []
    late = client.now() - _THEIRS_S
    waiting = [
        (name, int(run or 0))
        for name, (state, run, ordered) in zip(names, found, strict=True)
        if state in ("queued", "running") and float(ordered or 0) < late
    ]
    for name, run in waiting:
        put(client, name, run)
    return len(waiting)
