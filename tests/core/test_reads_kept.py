"""What is kept of many queues is what a page that asks for everything would find."""

from __future__ import annotations

import gc
import math
import os
import signal
import threading
import weakref
from contextlib import contextmanager, suppress
from itertools import count
from random import Random

import pytest
import redis as redis_py

from qless_core import Client, reads
from qless_core.clock import Clock
from qless_core.errors import QlessError
from qless_core.reads import Kept, Slice
from qless_core.reads import kept as kept_module
from qless_core.reads.kept import FEW, MANY
from qless_core.reads.plan import run
from qless_core.reads.queues import counts_of
from qless_core.reads.tracking import Tracking
from tests.support.polling import eventually

NAMES = [f"queue-{number:03}" for number in range(FEW + 20)]

#: Whatever asks each queue.
PLANS = (
    reads.queue_counts(Slice(0, 1_000)),
    reads.queue_counts(Slice(5, 10), order="waiting"),
    reads.scheduled(Slice(0, 25)),
    reads.scheduled(Slice(90, 25)),
    reads.recurring(Slice(0, 25)),
    reads.gauges(),
    reads.tracked_states(),
    reads.tracked(Slice(0, 25)),
)


@pytest.fixture
def kept(client):
    kept = Kept(client.redis, client.keys)
    yield kept
    kept.close()


@pytest.fixture
def look(client, kept):
    """Give what pages find that ask for everything, and what they find by what is kept."""

    def look(*plans):
        both = [
            run(client.redis, client.keys, plans or PLANS, now=client.now(), kept=each)[1]
            for each in (None, kept)
        ]
        assert both[1] == both[0]
        return both[1]

    return look


@pytest.fixture
def commands(redis):
    """Count the commands that a block sends."""

    def count(act):
        before = redis.info("stats")["total_commands_processed"]
        act()
        return redis.info("stats")["total_commands_processed"] - before - 1

    return count


@pytest.fixture
def again(client, kept):
    """Look at all queues by what is kept."""
    return lambda: run(client.redis, client.keys, PLANS[:1], now=client.now(), kept=kept)


def waiting(_keys, _now, name):
    """Read one thing, and wait at a gate for another."""
    yield [("GET", f"before-{name}"), ("BLPOP", name, 0)]
    return None, 0.0


@pytest.fixture
def is_waiting(redis):
    """Say whether somebody waits at a gate."""
    return lambda: any(each["cmd"] == "blpop" for each in redis.client_list())


def put_everywhere(client):
    for name in NAMES:
        client.queues[name].put("Job", {}, jid=f"{name}-first")
        client.track(f"{name}-first")


class Clients:
    """Do this and that, as clients do."""

    def __init__(self, client, clock):
        self._client = client
        self._clock = clock
        self._dice = Random(8)  # noqa: S311 - no secret
        self._held = []

    def act(self):
        dice, client = self._dice, self._client
        queue, jid = client.queues[dice.choice(NAMES)], f"{dice.getrandbits(40):x}"
        delay = dice.choice((5, 60, 600))
        acts = [
            lambda: queue.put("Job", {}, jid=jid),
            lambda: queue.put("Job", {}, jid=jid, delay=delay),
            lambda: queue.put("Job", {}, jid=jid, depends=[f"{queue.name}-first"]),
            lambda: queue.recur("Job", {}, delay, offset=delay, jid=jid),
            lambda: queue.cron("Job", {}, "*/5 * * * *", jid=jid),
            lambda: self._held.extend(queue.pop(2)),
            queue.pause,
            queue.unpause,
            lambda: self._clock.advance(dice.choice((1, 30, 90))),
        ]
        if self._held:
            job = self._held.pop(dice.randrange(len(self._held)))
            acts += [
                lambda: (job.heartbeat(), self._held.append(job)),
                job.complete,
                lambda: job.complete(dice.choice(NAMES)),
                lambda: job.fail("group", "no"),
                job.retry,
                job.cancel,
            ]
        # A job may be gone by now, or somebody else's.
        with suppress(QlessError):
            dice.choice(acts)()


def test_it_follows_whatever_is_done(client, clock, look):
    put_everywhere(client)
    clients = Clients(client, clock)
    for _ in range(30):
        for _ in range(3):
            clients.act()
        look()


def test_it_follows_time_without_being_told(client, clock, look):
    put_everywhere(client)
    client.queues["queue-001"].put("Job", {}, delay=30)
    client.queues["queue-002"].pop()
    look()
    clock.advance(31)
    assert look()[0].rows[1].waiting == 2
    clock.advance(3_600)
    assert look()[0].rows[2].stalled == 1
    clock.advance(86_400)
    look()


def test_what_does_not_change_is_not_asked_for_again(client, again, commands):
    put_everywhere(client)
    again()
    assert commands(again) <= 3  # names, which are paused, and whether the server is there
    client.queues["queue-007"].put("Job", {}, jid="more")
    assert commands(again) < 20
    assert commands(again) <= 3


def test_few_queues_are_always_asked(client, again, commands):
    for name in NAMES[:FEW]:
        client.queues[name].put("Job", {})
    again()
    assert commands(again) > FEW


def test_a_connection_that_is_lost_is_made_again(client, redis, look):
    put_everywhere(client)
    look()
    redis.client_kill_filter(_type="normal", skipme=True)
    client.queues["queue-003"].put("Job", {}, jid="more")
    assert look()[0].rows[3].waiting == 2


def test_an_emptied_server_is_empty_at_once(client, redis, look):
    put_everywhere(client)
    look()
    redis.flushall()
    put_everywhere(client)
    client.queues["queue-004"].pop()
    assert look()[0].rows[4].running == 1


def test_a_user_who_may_not_be_told_asks_for_everything(client, server, redis):
    put_everywhere(client)
    redis.acl_setuser("plain", enabled=True, nopass=True, keys=["*"],
                      categories=["+@read"], commands=["+hello", "-client"])  # fmt: skip
    try:
        url = server.url.replace("redis://", "redis://plain:x@").replace(
            "unix://", "unix://plain:x@"
        )
        with Client(url, clock=client.clock) as plain:
            kept = Kept(plain.redis, plain.keys)
            _, (found,) = run(plain.redis, plain.keys, PLANS[:1], now=client.now(), kept=kept)
            assert [row.waiting for row in found.rows] == [1] * len(NAMES)
            assert kept.of(counts_of, NAMES, client.now()) is None
    finally:
        redis.acl_deluser("plain")


def test_keys_of_a_foreign_type_count_as_nothing(client, redis, look):
    put_everywhere(client)
    redis.set(client.keys.work("queue-000"), "x")
    redis.set(client.keys.scheduled("queue-001"), "x")
    look()


def test_names_of_odd_bytes_are_kept_apart(client, redis, look):
    put_everywhere(client)
    raw = redis_py.Redis(connection_pool=redis.connection_pool)
    raw.zadd(client.keys.queues, {b"\xff\xfe": 1.0, "gr\u00fcn": 2.0})
    raw.zadd(b"ql:q:\xff\xfe-work", {"a": 1.0})
    assert sum(row.waiting for row in look()[0].rows) == len(NAMES) + 1


class Interrupt(BaseException):
    """Raised where nobody expects it, as by a handler of a signal or a timeout of gevent."""


@contextmanager
def interrupted(when):
    """Raise it in this thread, in the midst of what it waits for, when that is so."""

    def interrupt(_signal, _frame):
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    me = threading.get_ident()
    thread = threading.Thread(
        target=lambda: eventually(when) and signal.pthread_kill(me, signal.SIGUSR1)
    )
    thread.start()
    try:
        with pytest.raises(Interrupt):
            yield
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)


def test_who_is_interrupted_leaves_no_answers_to_the_next_page(
    client, redis, kept, look, is_waiting
):
    put_everywhere(client)
    look()
    with interrupted(is_waiting):
        kept.of(waiting, ["gate"], client.now())
    redis.rpush("gate", "open")
    client.queues["queue-003"].put("Job", {}, jid="more")
    kept.doubt()
    assert look()[0].rows[3].waiting == 2
    assert look()[0].rows[3].waiting == 2


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a child that only looks
def test_a_child_begins_anew_though_it_was_forked_while_another_thread_read(
    client, redis, kept, is_waiting
):
    put_everywhere(client)
    reader = threading.Thread(target=kept.of, args=(waiting, ["gate"], client.now()))
    reader.start()
    eventually(is_waiting)
    child = os.fork()
    if not child:
        with suppress(BaseException):
            kept.close()  # which is the parent's to end, and waits for no thread of it
            found = kept.of(counts_of, NAMES, client.now())
            os._exit(0 if len(found) == len(NAMES) else 1)
        os._exit(2)
    try:
        _, status = eventually(lambda: (ended := os.waitpid(child, os.WNOHANG))[0] and ended)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    finally:
        redis.rpush("gate", "open")
        reader.join()
    assert status == 0
    assert len(kept.of(counts_of, NAMES, client.now())) == len(NAMES)


def test_nobody_holds_what_is_kept_but_those_who_use_it(client):
    kept = Kept(client.redis, client.keys)
    there = weakref.ref(kept)
    del kept
    gc.collect()
    assert there() is None


def text(_keys, _now, name):
    """Read what a key holds."""
    (value,) = yield [("GET", name)]
    return value, math.inf


def length(_keys, _now, name):
    """Read how long it is."""
    (value,) = yield [("STRLEN", name)]
    return value, math.inf


def test_each_kind_of_many_names_sees_what_was_changed_just_now(redis, kept, monkeypatch):
    monkeypatch.setattr(kept_module, "YOUNG_S", 600.0)  # however slow this machine is
    names = [f"text-{number}" for number in range(MANY + 1)]

    def found():
        return [list(kept.of(kind, names, 0.0).values()) for kind in (text, length)]

    for value in ("one", "fifteen"):
        redis.mset(dict.fromkeys(names, value))
        kept.doubt()
        assert found() == [[value] * len(names), [len(value)] * len(names)]


class Moments:
    """Does something at the so-manyth moment of a page: around looks at the clock and asks."""

    def __init__(self, moment, act):
        self._left = moment
        self._act = act

    @property
    def came(self):
        """Whether there were as many."""
        return self._left < 0

    def around(self, call):
        def called(*args, **kwargs):
            self._pass()
            answer = call(*args, **kwargs)
            self._pass()
            return answer

        return called

    def _pass(self):
        self._left -= 1
        if self._left == -1:
            self._act()


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(lambda _kept, _redis: None, id="nothing"),
        pytest.param(lambda kept, _redis: kept.doubt(), id="a doubt"),
        pytest.param(lambda _kept, redis: redis.append("text", "!"), id="a change"),
    ],
)
def test_whenever_something_is_changed_the_next_page_waits_until_all_is_told(
    redis, kept, monkeypatch, before
):
    redis.set("text", "one")

    def see():
        return kept.of(text, ["text"], 0.0)["text"]

    def asked():
        stats = redis.info("commandstats")
        return stats["cmdstat_ping"]["calls"] + stats["cmdstat_get"]["calls"]

    def change():
        kept.doubt()
        asks.append(asked())

    redis.ping()
    see()
    for moment in count():
        asks = []
        see()
        before(kept, redis)
        moments = Moments(moment, change)
        with monkeypatch.context() as patch:
            for owner, name in ((Clock, "monotonic"), (Tracking, "ask"), (Tracking, "listen")):
                patch.setattr(owner, name, moments.around(getattr(owner, name)))
            see()
        if not moments.came:
            break
        see()
        assert asked() > asks[0], moment
    assert moment > 4
