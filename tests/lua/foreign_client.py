"""A client that knows nothing of us, with our script in place of its own. Run as a program.

Arguments: the address of the server. Standard input: the script. Prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys

import qless


def work(client, queue, seen):
    """Put, pop, renew, hand on, finish."""
    seen["put"] = queue.put("app.Mail", {"to": [], "n": 1}, jid="a", tags=["x"], priority=3)
    queue.put("app.Mail", {}, jid="b", depends=["a"])
    queue.put("app.Mail", {}, jid="later", delay=1000)
    seen["counts"] = queue.counts
    seen["peek"] = queue.peek().jid

    job = queue.pop()
    seen["pop"] = [job.jid, job.state, job.worker_name, dict(job.data), job.tags, job.dependents]
    seen["heartbeat"] = job.heartbeat() > 1_000_000_000
    job["n"] = 2
    seen["complete"] = job.complete("print", depends=["later"])
    seen["undepend"] = client.jobs["a"].undepend(all=True)
    seen["finish"] = client.queues["print"].pop().complete()
    seen["completed"] = client.jobs.complete()


def fail(client, queue, seen):
    """Fail, look at it, take it back, give it back."""
    job = queue.pop()
    seen["unblocked"] = job.jid
    seen["fail"] = job.fail("group", "it broke")
    seen["failed"] = [client.jobs.failed(), client.jobs.failed("group")["total"]]
    seen["failure"] = client.jobs["b"].failure["message"]
    seen["unfail"] = client.unfail("group", "mail")
    job = queue.pop()
    seen["retry"] = job.retry()
    try:
        job.heartbeat()
    except qless.exceptions.LostLockException:
        seen["lost"] = True


def mark(client, seen):
    """Tag, track, hurry."""
    seen["tag"] = json.loads(client.jobs["b"].tag("y", "z"))
    seen["untag"] = json.loads(client.jobs["b"].untag("z"))
    seen["tagged"] = client.jobs.tagged("y")
    client.jobs["b"].priority = 5
    seen["priority"] = client.jobs["b"].priority
    client.jobs["b"].track()
    seen["tracked"] = [job.jid for job in client.jobs.tracked()["jobs"]]


def recur(client, queue, seen):
    """Recur, change, take a child, end."""
    queue.recur("app.Tick", {"every": []}, 60, jid="tick", tags=["t"])
    recurring = client.jobs["tick"]
    recurring.interval = 30
    recurring.tag("u")
    child = queue.pop(2)[1]
    seen["child"] = [child.jid, child.data, child.tags]
    recurring.cancel()
    seen["uncurred"] = client.jobs["tick"]
    child.timeout()


def manage(client, queue, seen):
    """Pause, move, cancel, look around, set options."""
    queue.pause()
    seen["paused"] = [queue.counts["paused"], queue.pop()]
    queue.unpause()
    seen["moved"] = client.jobs["later"].move("print")
    seen["canceled"] = client.jobs["later"].cancel()
    seen["workers"] = [worker["name"] for worker in client.workers.counts]
    seen["worker"] = client.workers["foreign"]["jobs"]
    seen["queues"] = [counts["name"] for counts in client.queues.counts]
    seen["waits"] = queue.stats()["wait"]["count"]
    client.config["heartbeat"] = 90
    seen["config"] = [client.config["heartbeat"], client.config["grace-period"]]
    seen["tags"] = sorted(client.tags())


def main():
    client = qless.Client(sys.argv[1], hostname="foreign")
    client._lua = client.redis.register_script(sys.stdin.read())  # noqa: SLF001 - no other door
    queue = client.queues["mail"]
    seen = {}
    work(client, queue, seen)
    fail(client, queue, seen)
    mark(client, seen)
    recur(client, queue, seen)
    manage(client, queue, seen)
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
