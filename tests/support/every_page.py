"""Every page of the console, over a shop in which there is something on each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.records import WorkerChild, WorkerInfo, text
from qless_web import trail
from qless_web.formatting import tilde
from qless_web.operations import at_once
from qless_web.operations.freezing import Asked
from qless_web.operations.options import Options
from tests.support.shop import OPERATION, make_operation

if TYPE_CHECKING:
    from qless_core import Client

PAGES = (
    "/", "/queues", "/queues/mail", "/queues/mail/waiting", "/queues/thumbnails/waiting",
    "/queues/video/running", "/queues/video/stalled", "/queues/mail/scheduled",
    "/queues/nightly/depends", "/queues/nightly/recurring", "/queues/newsletter/waiting",
    "/scheduled", "/recurring", "/jobs/close-day/runs", "/recurring/close-day/edit",
    "/failed", "/failed/webhooks-HTTPError", "/failed/webhooks-HTTPError/retry",
    "/failed/webhooks-HTTPError/cancel", "/failed/webhooks-HTTPError/move", "/unfail", "/track",
    "/failed/webhooks-HTTPError/compare", "/failed/webhooks-HTTPError/timeline",
    "/failed/webhooks-HTTPError/mute", "/failed?show=muted", "/trouble", "/compare", "/deploys",
    "/tags", "/tag?tag=vip", "/workers", "/completed", "/completed?page=999", "/config",
    "/config/heartbeat/set", "/config/undo", "/queues/mail/put", "/about", "/preferences",
    "/operations", "/operations/new?action=retry&group=webhooks-HTTPError", "/audit",
    "/operations/new?action=edit&jids=x", f"/operations/{OPERATION}",
    "/help/keys", "/alerts", "/alerts/save", "/views", "/views/save?address=/queues",
    "/search?q=mail",
    "/search?q=nothing-like-it", "/jobs/close-day", "/jobs/no-such-job",
    "/queues/no-such-queue",
)  # fmt: skip


def every_page(client: Client) -> tuple[str, ...]:
    """Add to a planted shop what it lacks; gives the pages, of one job in each state, too."""
    jobs = {}
    for counts in client.queues.counts:
        queue = client.queues[counts.name]
        for state in ("running", "stalled", "scheduled", "depends"):
            if found := getattr(queue.jobs, state)(0, 1):
                jobs[state] = found[0]
        if waiting := queue.peek():
            jobs["waiting"] = waiting.jid
    jobs["complete"] = client.jobs.complete(0, 1)[0]
    jobs["failed"] = client.redis.lindex(client.keys.failed("webhooks-HTTPError"), 0)
    worker = client.workers.counts[0].name
    child = WorkerChild(f"{worker}-0", 4712)
    told = WorkerInfo(host="web-3", pid=4711, kind="forking", queues=("mail",), children=(child,))
    client.workers.beat(worker, told)
    client.workers.ask(worker, "pause")
    # Looking at all pages takes longer than a worker may be silent.
    client.redis.zadd(client.keys.workers, {worker: client.now() + 3_600})
    failed = [*map(text, client.redis.lrange(client.keys.failed("webhooks-HTTPError"), -9, -1))]
    make_operation(client, "retry", *failed, "gone", state="draft")
    at_once.act(
        client,
        "cancel",
        [(failed[0], "")],
        group="",
        options=Options(),
        asked=Asked(who="dana"),
        keeping=at_once.Keeping(3_600, 1_000_000),
    )
    (rests,) = map(text, client.redis.zrange(client.keys.web("trash"), 0, 0))
    trail.write(client, trail.Entry(action="retry_job", who="dana", note="why"), days=1, most=100)
    (running,) = client.jobs.get(jobs["running"])
    client.commands.progress(running.jid, running.worker_name, 3, total=4, note="pages")
    return (
        *PAGES,
        *(f"/jobs/{tilde(jid)}" for jid in jobs.values()),
        f"/jobs/{tilde(jobs['failed'])}/cancel",
        f"/jobs/{tilde(jobs['failed'])}/edit",
        f"/jobs/{tilde(jobs['complete'])}/duplicate",
        f"/jobs/{tilde(jobs['failed'])}/data/tree?find=a",
        f"/jobs/{tilde(jobs['depends'])}/graph",
        f"/jobs/{tilde(jobs['depends'])}/timeline",
        f"/compare?a={jobs['failed']}&b={jobs['complete']}",
        f"/operations/{rests}",
        f"/trash?operation={rests}",
        f"/workers/{tilde(worker)}",
        f"/workers/{tilde(worker)}/stop",
    )
