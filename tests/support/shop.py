"""Jobs in every state, for tests of what is done to them; and a seeded shop with awkward names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_web.demo import seeds

if TYPE_CHECKING:
    from qless_core import Client
    from qless_core.job import Job

#: Names that have broken addresses, forms, selectors and pages.
AWKWARD = [
    "a/b",
    "..",
    "a/running",
    "x.json",
    "ü ~2F",
    "q?x=1#y",
    "<b>&amp;'\"",
    "a\nb",
    "%2F",
    "~41",
    "overlong/" * 200,
]


def plant(client: Client) -> None:
    """Seed a shop, and in it something by every awkward name."""
    seeds.plant(client)
    for name in AWKWARD:
        queue = client.queues[name]
        queue.put(name, {name: name}, jid=name, tags=[name])
        queue.put("Fails", {}, jid=f"{name}-failed", tags=[name])
        queue.recur("Again", {}, interval=3600, jid=f"{name}-again", tags=[name])
        client.track(name)
        for job in queue.pop(3):
            if job.jid.endswith("-failed"):
                job.fail(name, f"{name}: {name}")


class Shop:
    """Puts jobs where a test wants them."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def put(self, jid: str, queue: str = "mail", **options: Any) -> None:
        """Put a job."""
        self.client.queues[queue].put("Job", {"n": 1}, jid=jid, **options)

    def run(self, jid: str, queue: str = "mail", **options: Any) -> Job:
        """Put a job and take it."""
        self.put(jid, queue, priority=1_000, **options)
        job = self.client.queues[queue].pop()
        assert job is not None
        assert job.jid == jid
        self.client.commands.priority(jid, options.get("priority", 0))
        return job

    def fail(self, *jids: str, group: str = "boom", queue: str = "mail") -> None:
        """Let jobs fail, the first the oldest failure."""
        for jid in jids:
            self.run(jid, queue).fail(group, f"{group}: no\n  line 2")

    def complete(self, jid: str, queue: str = "mail") -> None:
        """Let a job complete."""
        self.run(jid, queue).complete()

    def state(self, jid: str) -> str:
        """Give the state of a job, or "gone"."""
        record = self.client.commands.get(jid)
        return "gone" if record is None else record.state

    def queue(self, jid: str) -> str:
        """Give the queue of a job."""
        record = self.client.commands.get(jid)
        assert record is not None
        return record.queue
