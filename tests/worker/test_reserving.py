"""Which queue the next job comes from."""

from __future__ import annotations

from collections import Counter

import pytest

from qless_core.client import Client
from qless_core.errors import BadArgument
from qless_core.worker import reserving
from qless_core.worker.reserving import Ordered, RoundRobin, Shuffled, Source, Weighted
from qless_core.worker.serial import SerialWorker
from qless_core.worker.threads import ThreadWorker
from tests.worker import sample_jobs
from tests.worker.sample_jobs import Mail

NAMES = ("a", "b", "c")


@pytest.fixture(autouse=True)
def done():
    sample_jobs.DONE.clear()
    return sample_jobs.DONE


def firsts(order, times=3000):
    return Counter(order(NAMES, None)[0] for _ in range(times))


def test_ordered_asks_the_first_one_first():
    assert Ordered()(NAMES, "a") == NAMES


@pytest.mark.parametrize(
    ("last", "names"), [(None, "abc"), ("a", "bca"), ("c", "abc"), ("gone", "abc")]
)
def test_round_robin_begins_behind_the_one_that_gave_the_last_job(last, names):
    assert [*RoundRobin()(NAMES, last)] == [*names]


def test_shuffled_asks_any_one_first_as_often_as_any_other():
    assert all(800 < count < 1200 for count in firsts(Shuffled()).values())
    assert sorted(Shuffled()(NAMES, None)) == [*NAMES]


def test_weighted_asks_one_of_three_times_the_weight_first_three_times_as_often():
    counts = firsts(Weighted({"a": 3}))

    assert 1600 < counts["a"] < 2000
    assert 450 < counts["b"] < 750
    assert sorted(Weighted({"a": 3})(NAMES, None)) == [*NAMES]


@pytest.mark.parametrize("weight", [0, -1, float("nan")])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(BadArgument, match="weight of queue 'a'"):
        Weighted({"a": weight})


@pytest.mark.parametrize("order", [Ordered, Ordered(), lambda names, _: names[::-1]])
def test_an_order_is_a_class_or_any_callable(client, done, order):
    for queue in NAMES:
        client.queues[queue].put(Mail, {}, jid=queue)
    worker = SerialWorker(client, NAMES, order=order)

    while worker.step():
        pass

    expected = "abc" if isinstance(order, Ordered | type) else "cba"
    assert [jid for _, jid in done] == [*expected]


@pytest.fixture
def no_wait(monkeypatch):
    monkeypatch.setattr(reserving, "PATTERNS_S", 0)


@pytest.mark.usefixtures("no_wait")
def test_a_pattern_means_the_queues_that_fit_also_those_to_come(client):
    client.queues["mail-a"].put(Mail, {})
    client.queues["other"].put(Mail, {})
    source = Source(client, ["first", "mail-*", "last"], Ordered)
    assert source.reserver().queues == ("first", "mail-a", "last")

    client.queues["mail-b"].put(Mail, {})

    assert source.reserver().queues == ("first", "mail-a", "mail-b", "last")
    assert source.has_patterns


@pytest.mark.usefixtures("no_wait")
def test_a_pattern_that_no_queue_fits_takes_nothing(client):
    source = Source(client, ["mail-*"], Ordered)

    assert source.reserver() is None
    assert SerialWorker(client, "mail-*").step() is None


@pytest.mark.usefixtures("no_wait")
def test_a_queue_whose_name_looks_like_a_pattern_is_found_by_its_name(client, done):
    client.queues["a[1]*"].put(Mail, {}, jid="a")

    SerialWorker(client, "a[1]*").step()

    assert [jid for _, jid in done] == ["a"]


def test_who_is_woken_waits_anew_next_time(client):
    source = Source(client, ["q"], Ordered)
    source.reserver()

    source.wake()

    assert not source.reserver().is_stopped


@pytest.mark.parametrize("kind", [SerialWorker, ThreadWorker])
def test_a_worker_finds_the_queues_of_a_pattern_as_they_come(server, redis, kind, done):  # noqa: ARG001 - it empties the server
    with Client(server.url, worker_name="w") as client:
        client.queues["mail-a"].put(Mail, {}, jid="a")
        client.queues["mail-b"].put(Mail, {}, jid="b")

        kind(client, "mail-*", burst=True).run()

        assert sorted(jid for _, jid in done) == ["a", "b"]
