"""Jobs in every state, for actions to change."""

from __future__ import annotations

import json
import logging

import pytest


class Shop:
    """Puts jobs where a test wants them."""

    def __init__(self, client):
        self.client = client

    def put(self, jid, queue="mail", **options):
        self.client.queues[queue].put("Job", {"n": 1}, jid=jid, **options)

    def run(self, jid, queue="mail", **options):
        """Put a job and take it."""
        self.put(jid, queue, priority=1_000, **options)
        job = self.client.queues[queue].pop()
        assert job.jid == jid
        self.client.commands.priority(jid, options.get("priority", 0))
        return job

    def fail(self, *jids, group="boom", queue="mail", **options):
        """Let jobs fail, the first the oldest failure."""
        for jid in jids:
            self.run(jid, queue, **options).fail(group, f"{group}: no\n  line 2")

    def complete(self, jid, queue="mail"):
        self.run(jid, queue).complete()

    def state(self, jid):
        """Give the state of a job, or "gone"."""
        record = self.client.commands.get(jid)
        return "gone" if record is None else record.state

    def queue(self, jid):
        return self.client.commands.get(jid).queue


@pytest.fixture
def shop(client):
    return Shop(client)


@pytest.fixture
def audit(caplog):
    """Give the audit's records as they come."""
    caplog.set_level(logging.INFO, logger="qless.audit")

    def records():
        return [
            json.loads(each.getMessage()) for each in caplog.records if each.name == "qless.audit"
        ]

    return records


@pytest.fixture
def stored(redis):
    """Give a function that reads the whole database, but for the audit."""

    def read():
        return {
            key: redis.dump(key)
            for key in sorted(redis.scan_iter(count=1000))
            if key != "ql:web:audit"
        }

    return read
