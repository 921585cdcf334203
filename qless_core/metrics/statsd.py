"""Gauges for statsd, by the names that the original `qless-stats` gave them."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING, Final

from qless_core.metrics.names import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from qless_core.reads.gauges import Gauges, QueueGauges

#: Bytes of a datagram that no network cuts up.
PACKET: Final = 1_432

_STATES: Final = ("waiting", "running", "stalled", "scheduled", "depends", "recurring")

#: What separates the parts of a gauge, and what no reader of lines expects.
_SPECIAL: Final = re.compile(r"[:|@\s\x00-\x1f\x7f]")


def gauges_of(found: Gauges) -> Iterator[tuple[str, float]]:
    """Give the gauges, each by its name."""
    for queue in found.queues:
        for name, value in _of_queue(queue):
            yield f"queues.{queue.jobs.name}.{name}", value
    for group, count in found.groups.items():
        yield f"failures.{group}", count
    yield "failed", found.failed
    yield "workers", found.workers


def _of_queue(queue: QueueGauges) -> Iterator[tuple[str, float]]:
    for state in _STATES:
        yield state, getattr(queue.jobs, state)
    yield "paused", int(queue.jobs.paused)
    yield "completed", queue.run.count
    yield "popped", queue.wait.count
    yield "failed", queue.failed
    yield "failures", queue.failures
    yield "retries", queue.retries
    for kind, spent in (("run", queue.run), ("wait", queue.wait)):
        yield f"{kind}.avg", spent.mean
        yield f"{kind}.std-dev", spent.deviation


def lines(found: Gauges, *, namespace: str = "", postfix: str = "") -> Iterator[str]:
    """Write the gauges, a line each.

    Args:
        found: what was measured.
        namespace: what stands before every name, with a dot between.
        postfix: what stands behind it, with a dot between.

    """
    for name, value in gauges_of(found):
        parts = (namespace, _clean(name), postfix)
        yield f"{'.'.join(part for part in parts if part)}:{_number(value)}|g"


def _clean(name: str) -> str:
    """Write a name as statsd can read it; `::`, as in the names of Ruby classes, is a dot."""
    return _SPECIAL.sub("_", readable(name).replace("::", "."))


def _number(value: float) -> str:
    """Write a number: whole ones so, others with what a graph can show, and never as 1e-05."""
    return str(value) if isinstance(value, int) else f"{value:.6f}".rstrip("0").rstrip(".")


class Statsd:
    """Sends lines to a statsd, over UDP: whether somebody hears them is not known.

    Args:
        host: where it is.
        port: its port.
        packed: whether many lines go in one datagram; the oldest statsd read one alone.

    Raises:
        OSError: there is no such host.

    """

    def __init__(self, host: str, port: int, *, packed: bool = False) -> None:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        self._place = place
        self._socket = socket.socket(family, kind, protocol)
        self._packed = packed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, told: Iterable[str]) -> int:
        """Send lines; answers how many.

        Raises:
            OSError: the network is not there.

        """
        count = 0
        for packet, number in packets(told, PACKET if self._packed else 0):
            self._socket.sendto(packet, self._place)
            count += number
        return count


def packets(told: Iterable[str], room: int) -> Iterator[tuple[bytes, int]]:
    r"""Put as many lines into a datagram as there is room for, at least one.

    >>> list(packets(["a:1|g", "b:2|g", "c:3|g"], 11))
    [(b'a:1|g\nb:2|g', 2), (b'c:3|g', 1)]
    """
    waiting: list[bytes] = []
    size = 0
    for line in told:
        raw = line.encode()
        if waiting and size + len(raw) > room:
            yield b"\n".join(waiting), len(waiting)
            waiting, size = [], 0
        waiting.append(raw)
        size += len(raw) + 1
    if waiting:
        yield b"\n".join(waiting), len(waiting)
