"""Jobs in every state, for tests of what is done to them; and a seeded shop with awkward names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from qless_core.records import WorkerInfo
from qless_web.demo import seeds
from qless_web.operations import freezing, ordering
from qless_web.operations import operation as store
from qless_web.operations.options import Options
from qless_web.operations.selection import Selection
from qless_web.triage import handling

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
        # As other clients do: this one refuses what is no name of a class.
        data = json.dumps({name: name})
        client.commands.put(client.worker_name, name, name, name, data, 0, tags=[name])
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


#: Actions on a job that is scheduled.
SCHEDULED = {"run_job", "reschedule_job", "run_jobs", "reschedule_jobs"}


def make_ready(shop: Shop, action: str) -> None:
    """Bring job `a`, and what else there is, into the state that an action is for."""
    if action in {"time_out_job", "forget_worker"}:
        shop.run("a")
    elif action == "undepend_job":
        shop.put("first", queue="else")
        shop.put("a", depends=["first"])
    elif action in SCHEDULED:
        shop.put("a", delay=60)
    elif action.endswith("_recurring"):
        shop.client.queues["mail"].recur("Job", {}, 60, offset=60, jid="a")
    else:
        shop.fail("a")
    if action == "reopen_group":
        handling.save(shop.client, "boom", handling.Handling(fold="muted"))
    if action in _OPERATIONS:
        does = "cancel" if action in {"start_cancelling", "restore_jobs"} else "retry"
        make_operation(shop.client, does, "a", state=_OPERATIONS[action])
    _finish(shop.client, action)


#: The operation that actions on one are tried on.
OPERATION = "00000000000000aa"

#: Actions on an operation, with the state that they are for.
_OPERATIONS: dict[str, store.State] = {
    "start_operation": "draft",
    "start_cancelling": "draft",
    "pause_operation": "running",
    "stop_operation": "running",
    "resume_operation": "paused",
    "undo_operation": "done",
    "restore_jobs": "done",
}


def _found_nothing(q: str) -> tuple[str, ...]:
    del q
    return ()


def make_operation(
    client: Client, action: str, *jids: str, state: store.State, name: str = OPERATION
) -> None:
    """Make an operation that does something to jobs, in a state, and list it."""
    made = freezing.freeze(
        client,
        action=action,
        selection=Selection(jids=jids),
        options=Options(),
        asked=freezing.Asked(who="kim"),
        search=_found_nothing,
        keep_s=86_400,
    )
    for key_of in (store.hash_key, store.list_key):
        client.redis.rename(key_of(client.keys, made.id), key_of(client.keys, name))
    client.redis.zadd(store.index_key(client.keys), {name: client.now()})
    store.change(client, name, state="queued" if state == "done" else state, run=1)
    if state == "done":
        client.commands.operation_step(name, 1, len(jids), 1.0)


def start_operation(client: Client, operation: store.Operation) -> None:
    """Let an operation be done in the background, as an action does."""
    ordering.begin(client, operation)
    ordering.put_soon(client, operation.id)


def _finish(client: Client, action: str) -> None:
    """Bring about what an action takes back or speaks to."""
    if action in {"stop_worker", "pause_worker", "resume_worker"}:
        client.workers.beat("worker-1", WorkerInfo())
    elif action == "unpause_recurring":
        client.commands.recur_pause("a")
    elif action == "remove_tag":
        client.commands.tag("add", "a", "x")
    elif action == "untrack_job":
        client.track("a")
    elif action in {"unset_option", "undo_option"}:
        client.config["heartbeat"] = 120
        change = {"at": 1, "option": "heartbeat", "was": None, "now": "120"}
        client.redis.lpush(client.keys.web("config:history"), json.dumps(change))
    elif action == "forget_view" or action.endswith("_alert"):
        rule = {"kind": "stalled", "url": "https://hooks.example.com/a"}
        client.redis.hset(client.keys.web("alerts:rules"), "Late", json.dumps(rule))
        client.redis.hset(client.keys.web("views"), "Busy", "/queues?sort=waiting")
    elif action == "unpause_queue":
        client.queues["mail"].pause()
