"""Everything in numbers, what a name means, and the server behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from qless_core import reads
from qless_core.reads.queues import ORDERED_AT_MOST
from qless_web.api.params import Param
from qless_web.api.route import Route, shown
from qless_web.console import current
from qless_web.presenters.frame import running_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything in numbers."""

    as_of: float
    application: Annotated[str, "What this installation is called."]
    queues: int
    paused: int
    waiting: int
    running: int
    stalled: int
    scheduled: int
    depends: int
    throttled: int
    recurring: int
    counted: Annotated[int, "In how many queues, the first by name, the states were counted."]
    failed: int
    groups: int
    workers: Annotated[int, "Those that were seen of late."]
    tracked: int
    tags: int
    completed: Annotated[int, "Those that are kept."]
    read_only: Annotated[str, "Why nothing can be changed here; empty where it can."]


@shown(
    Route(
        name="overview",
        rule="/overview",
        family="overview",
        answers=Overview,
        example=Overview(
            as_of=1798761660.5,
            application="qless",
            queues=3,
            paused=0,
            waiting=120,
            running=4,
            stalled=0,
            scheduled=3,
            depends=0,
            throttled=0,
            recurring=1,
            counted=3,
            failed=4812,
            groups=2,
            workers=3,
            tracked=1,
            tags=4,
            completed=900,
            read_only="",
        ),
    )
)
def overview() -> Overview:
    """Count everything there is."""
    here = current()
    found = here.read(reads.queue_counts(reads.Slice(0, ORDERED_AT_MOST)))
    counts = here.counts
    sums = {
        state: sum(getattr(queue, state) for queue in found.rows)
        for state in (
            *("waiting", "running", "stalled", "scheduled", "depends", "throttled", "recurring"),
        )
    }
    return Overview(
        as_of=counts.now,
        application=counts.application or "qless",
        queues=counts.queues,
        paused=counts.paused,
        **sums,
        counted=len(found.rows),
        failed=counts.failed,
        groups=counts.groups,
        workers=counts.workers,
        tracked=counts.tracked,
        tags=counts.tags,
        completed=counts.completed,
        read_only=here.refusal("operate"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """What has exactly a name, and what resembles it."""

    name: str
    is_job: bool
    is_recurring: bool
    is_queue: bool
    is_group: bool
    is_worker: bool
    is_tag: bool
    jobs: Annotated[tuple[str, ...], "Jids that begin so, among the heads of all lists."]
    queues: Annotated[tuple[str, ...], "Queues with it in their name, at most twenty."]
    groups: tuple[str, ...]
    workers: tuple[str, ...]
    tags: tuple[str, ...]


@shown(
    Route(
        name="lookup",
        rule="/lookup",
        family="overview",
        answers=Lookup,
        example=Lookup(
            name="mail",
            is_job=False,
            is_recurring=False,
            is_queue=True,
            is_group=False,
            is_worker=False,
            is_tag=False,
            jobs=(),
            queues=("mail",),
            groups=("mail-Timeout",),
            workers=(),
            tags=(),
        ),
        params=(
            Param(name="name", required=True, help="The name, or a part of one.", example="mail"),
        ),
    )
)
def lookup(name: str) -> Lookup:
    """Say what a name means, and what is called alike."""
    found, alike = current().read(reads.anything(name), reads.similar(name))
    return Lookup(
        name=name,
        is_job=found.job,
        is_recurring=found.recurring,
        is_queue=found.queue,
        is_group=found.group,
        is_worker=found.worker,
        is_tag=found.tag,
        jobs=tuple(jid for jid, _ in alike.jobs),
        queues=alike.queues,
        groups=alike.groups,
        workers=alike.workers,
        tags=alike.tags,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The Redis or Valkey server, as far as it tells, and this console."""

    product: str
    version: str
    mode: str
    role: str
    uptime_s: int | None
    memory_bytes: int | None
    memory_limit_bytes: Annotated[int | None, "0 where there is no limit."]
    eviction: Annotated[str, "Anything but `noeviction` may lose jobs when the memory is full."]
    clients: int | None
    keys: int | None
    silence: Annotated[str, "Why the server does not tell about itself; empty where it does."]
    url: Annotated[str, "Where it is, without secrets."]
    namespace: str
    qless: Annotated[str, "The version of this console; empty in a checkout."]
    as_of: float


@shown(
    Route(
        name="server",
        rule="/server",
        family="overview",
        answers=Server,
        example=Server(
            product="Valkey",
            version="9.1.2",
            mode="standalone",
            role="master",
            uptime_s=86400,
            memory_bytes=4_000_000,
            memory_limit_bytes=0,
            eviction="noeviction",
            clients=12,
            keys=4812,
            silence="",
            url="redis://redis.example:6379/0",
            namespace="ql:",
            qless="0.1.0",
            as_of=1798761660.5,
        ),
    )
)
def server() -> Server:
    """Show the server, and this console."""
    here = current()
    here.at_primary = True
    found = here.read(reads.server())
    return Server(
        product=found.product,
        version=found.version,
        mode=found.mode,
        role=found.role,
        uptime_s=found.uptime_s,
        memory_bytes=found.memory_bytes,
        memory_limit_bytes=found.memory_limit_bytes,
        eviction=found.eviction,
        clients=found.clients,
        keys=found.keys,
        silence=found.silence,
        url=here.client.safe_url,
        namespace=here.client.namespace,
        qless=running_version() or "",
        as_of=here.now,
    )
