from __future__ import annotations

import pytest

from qless_core.errors import BadArgument
from qless_core.worker import recycling
from qless_core.worker.memory import bytes_in_use
from qless_core.worker.middleware import MemoryLimit
from qless_core.worker.serial import SerialWorker
from tests.worker.wrapped_jobs import HEARD, Allocates

MIB = 2**20


@pytest.fixture(autouse=True)
def _anew(monkeypatch):
    HEARD.clear()
    monkeypatch.setattr(recycling, "_asked", None)


@pytest.fixture
def work(client):
    def work(size, limit, queue="q"):
        client.queues[queue].put(Allocates, {"bytes": size}, jid="j")
        SerialWorker(client, [queue], middleware=[limit]).step()
        return client.jobs["j"]

    return work


def test_a_process_that_is_too_big_after_a_job_asks_to_be_replaced(work, caplog):
    assert work(1, MemoryLimit(1)).state == "complete"

    assert "of memory in use" in recycling.reason()
    assert "at most 0 MiB" in caplog.text


def test_a_process_within_its_limits_stays(work):
    assert work(1, MemoryLimit(bytes_in_use() + 500 * MIB, growth=400 * MIB)).state == "complete"

    assert recycling.reason() == ""


@pytest.mark.parametrize(
    "limit",
    [
        lambda: MemoryLimit(bytes_in_use() + 50 * MIB, fail=True),
        lambda: MemoryLimit(growth=50 * MIB, fail=True),
    ],
)
def test_a_job_that_takes_too_much_is_stopped_and_fails(work, limit):
    job = work(200 * MIB, limit(), queue="waits")

    assert job.failure.group == "waits-MemoryExceeded"
    assert "MiB of memory in use" in job.failure.message


def test_another_process_is_not_meant(monkeypatch):
    recycling.ask("too big")
    monkeypatch.setattr(recycling.os, "getpid", lambda: 1)

    assert recycling.reason() == ""


@pytest.mark.parametrize(
    "wrong", [MemoryLimit, lambda: MemoryLimit(0), lambda: MemoryLimit(1, growth=-1)]
)
def test_what_is_no_limit_is_refused(wrong):
    with pytest.raises(BadArgument):
        wrong()
