"""The text that Prometheus reads; every name begins with `qless_`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.exposition import choose_encoder

from qless_core.metrics.names import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.reads.gauges import Gauges, QueueGauges

#: The states of a queue's jobs, by the names of the fields that count them.
STATES: Final = ("waiting", "running", "stalled", "scheduled", "depends", "throttled")


def text(found: Gauges | None, accept: str = "") -> tuple[bytes, str]:
    """Write what was measured.

    Args:
        found: that; None while Redis cannot be asked, which `qless_up` tells.
        accept: what the reader understands, as its header Accept says.

    Returns:
        The text, and its content type.

    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Told(found))
    encode, kind = choose_encoder(accept)
    return encode(registry), kind


class _Told:
    """A collector of what was read already."""

    def __init__(self, found: Gauges | None) -> None:
        self._found = found

    def collect(self) -> Iterator[Metric]:
        yield _gauge("qless_up", "1 while Redis answers.", int(self._found is not None))
        if self._found is not None:
            yield from _everything(self._found)

    def describe(self) -> Iterator[Metric]:
        """Describe nothing ahead: what there is depends on what is found."""
        return iter(())


def _everything(found: Gauges) -> Iterator[Metric]:
    yield from _of_queues(found)
    failed = GaugeMetricFamily("qless_failed_jobs", "Failed jobs by group.", labels=["group"])
    for group, count in found.groups.items():
        failed.add_metric([readable(group)], count)
    yield failed
    known = len(found.queues) + found.queues_left_out
    yield _gauge("qless_failed_jobs_all", "Failed jobs in all groups.", found.failed)
    yield _gauge("qless_workers", "Workers that were seen of late.", found.workers)
    yield _gauge("qless_queues", "Queues.", known)
    yield _gauge("qless_paused_queues", "Queues that are paused.", found.paused)
    yield _gauge("qless_tracked_jobs", "Tracked jobs.", found.tracked)
    yield _gauge("qless_kept_jobs", "Completed jobs that are kept.", found.completed)
    yield _gauge(
        "qless_queues_left_out",
        "Queues beyond the first thousand by name, which have no figures of their own.",
        found.queues_left_out,
    )
    yield _gauge(
        "qless_groups_left_out",
        "Groups of failures beyond the thousand largest.",
        found.groups_left_out,
    )


def _gauge(name: str, told: str, value: float) -> Metric:
    return GaugeMetricFamily(name, told, value=value)


def _of_queues(found: Gauges) -> Iterator[Metric]:
    jobs = GaugeMetricFamily(
        "qless_queue_jobs", "Jobs of a queue by state.", labels=["queue", "state"]
    )
    for queue in found.queues:
        for state in STATES:
            jobs.add_metric([readable(queue.jobs.name), state], getattr(queue.jobs, state))
    yield jobs
    yield from _plain(found)
    for name, told in (("wait", "From put to pop"), ("run", "From pop to complete")):
        spent = SummaryMetricFamily(
            f"qless_queue_{name}_seconds", f"{told}, since midnight UTC.", labels=["queue"]
        )
        for queue in found.queues:
            took = queue.wait if name == "wait" else queue.run
            spent.add_metric([readable(queue.jobs.name)], took.count, took.total)
        yield spent


def _plain(found: Gauges) -> Iterator[Metric]:
    """Give what is one number a queue."""
    for name, told in _GAUGES.items():
        gauge = GaugeMetricFamily(f"qless_queue_{name}", told, labels=["queue"])
        for queue in found.queues:
            gauge.add_metric([readable(queue.jobs.name)], _value(name, queue, found.now))
        yield gauge
    for name, told in _COUNTERS.items():
        counter = CounterMetricFamily(f"qless_queue_{name}", told, labels=["queue"])
        for queue in found.queues:
            counter.add_metric([readable(queue.jobs.name)], _counted(name, queue))
        yield counter


_GAUGES: Final = {
    "recurring": "Recurring jobs.",
    "paused": "1 while the queue is paused.",
    "oldest_waiting_seconds": "How long the job that is next has been waiting; 0 without one.",
    "failed_today": "Jobs that failed since midnight UTC and are failed still.",
}

_COUNTERS: Final = {
    "completed": "Jobs completed since midnight UTC.",
    "popped": "Jobs popped since midnight UTC.",
    "failures": "Times that a job failed since midnight UTC.",
    "retries": "Jobs retried or taken back from their worker since midnight UTC.",
}


def _value(name: str, queue: QueueGauges, now: float) -> float:
    match name:
        case "oldest_waiting_seconds":
            since = queue.jobs.next_since
            return 0.0 if since is None else max(0.0, now - since)
        case "failed_today":
            return queue.failed
        case _:
            return int(getattr(queue.jobs, name))


def _counted(name: str, queue: QueueGauges) -> int:
    match name:
        case "completed":
            return queue.run.count
        case "popped":
            return queue.wait.count
        case "failures":
            return queue.failures
        case _:
            return queue.retries
