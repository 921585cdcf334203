from __future__ import annotations

import logging
import socket
import threading

import pytest

from qless_core import events, subscription
from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.errors import RedisUnavailable
from qless_core.events import event_of
from tests.support.polling import eventually


@pytest.fixture
def queue(client):
    return client.queues["q"]


def test_the_log_tells_of_every_job(client, queue):
    with client.events.subscribe("log") as heard:
        queue.put("Job", {}, jid="a")
        queue.pop().complete("next")
        client.queues["next"].pop().fail("group", "message")
        client.jobs["a"].move("q")
        queue.pop().complete()
        queue.put("Job", {}, jid="b")
        queue.pop()
        client.jobs["b"].cancel()
        client.config["heartbeat"] = 30
        del client.config["heartbeat"]
        found = heard.drain()

    assert found == [
        events.Put("a", queue="q"),
        events.Advanced("a", queue="q", to="next"),
        events.Failed("a", group="group", message="message", worker="worker-1"),
        events.Put("a", queue="q"),
        events.Completed("a", queue="q"),
        events.Put("b", queue="q"),
        events.Canceled("b", queue="q", worker="worker-1"),
        events.ConfigSet("heartbeat", value="30"),
        events.ConfigUnset("heartbeat"),
    ]


def test_tracked_jobs_are_told_of_on_channels_of_their_own(client, queue):
    """Q10."""
    queue.put("Job", {}, jid="a")
    with client.events.subscribe(*events.TRACKED_CHANNELS) as heard:
        client.track("a")
        queue.pop().complete()
        client.untrack("a")
        found = [(event.name, event.jid) for event in heard.drain()]

    assert found == [("track", "a"), ("popped", "a"), ("completed", "a"), ("untrack", "a")]


def test_a_worker_hears_that_it_lost_a_job(client, queue, clock):
    queue.put("Job", {}, jid="a")
    queue.pop()
    with client.events.subscribe("w:worker-1", "log") as heard:
        clock.advance(61)
        queue.pop()
        found = heard.drain()

    assert found == [
        events.ToWorker("a", name="lock_lost", worker="worker-1"),
        events.LockLost("a", worker="worker-1"),
    ]


def test_get_waits_for_the_next_event(client, queue):
    with client.events.subscribe() as heard:
        assert heard.get() is None
        threading.Timer(0.05, lambda: queue.put("Job", {}, jid="a")).start()

        assert eventually(lambda: heard.get(1)) == events.Put("a", queue="q")


def test_listen_gives_events_until_it_is_closed(client, queue):
    heard = client.events.subscribe()
    found = []
    thread = threading.Thread(target=lambda: found.extend(heard.listen()))
    thread.start()
    eventually(lambda: client.redis.pubsub_numsub("ql:log")[0][1])
    queue.put("Job", {}, jid="a")
    eventually(lambda: found)

    heard.close()
    thread.join(5)

    assert not thread.is_alive()
    assert found == [events.Put("a", queue="q")]


def test_closing_wakes_whoever_waits_in_another_thread(client):
    heard = client.events.subscribe()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(heard.get(600)))
    thread.start()
    eventually(lambda: client.redis.pubsub_numsub("ql:log")[0][1])

    heard.close()
    thread.join(5)

    assert not thread.is_alive()
    assert answers == [None]
    assert heard.get(600) is None
    eventually(lambda: not client.redis.pubsub_numsub("ql:log")[0][1])


def test_closing_does_not_wait_for_a_server_that_does_not_answer(clock):
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        client = Client(f"redis://127.0.0.1:{deaf.getsockname()[1]}/0", clock=clock)
        heard = client.events.subscribe()
        thread = threading.Thread(target=heard.get)
        thread.start()
        connection, _ = deaf.accept()
        with connection:
            heard.close()
            thread.join(20)

    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("channel", "data"),
    [
        ("ql:log", "nonsense"),
        ("ql:log", "[]"),
        ("ql:log", "5"),
        ("ql:log", "{}"),
        ("ql:log", '{"event":"never heard of"}'),
        ("ql:log", "[" * 100_000),
        ("ql:w:worker", "{}"),
        ("other:log", '{"event":"put","jid":"a","queue":"q"}'),
        ("ql:something", "x"),
    ],
)
def test_what_is_not_ours_is_no_event(channel, data):
    assert event_of(channel, data) is None


def test_a_message_with_odd_or_missing_fields_is_read_as_far_as_it_goes():
    assert event_of("ql:log", '{"event":"put","jid":5}') == events.Put("5", queue="")
    assert event_of("ql:log", '{"event":"canceled","jid":"a","queue":false,"worker":null}') == (
        events.Canceled("a", queue="", worker="")
    )


def test_a_malformed_message_is_skipped_with_a_line_in_the_log(client, redis, caplog):
    caplog.set_level(logging.INFO, "qless.events")
    with client.events.subscribe() as heard:
        redis.publish("ql:log", "nonsense \udcff".encode("utf-8", "surrogateescape"))
        client.queues["q"].put("Job", {}, jid="a")

        assert heard.drain() == [events.Put("a", queue="q")]
    assert "skipped" in caplog.text


def test_b68_it_says_that_the_server_is_gone_and_hears_again_when_it_is_back(tmp_path):
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url) as client, client.events.subscribe() as heard:
        server.stop()
        with pytest.raises(RedisUnavailable):
            heard.get(5)
        with pytest.raises(RedisUnavailable):
            heard.get(5)

        with EmbeddedServer(place):
            assert heard.get() is None
            client.queues["q"].put("Job", {}, jid="a")
            assert eventually(lambda: heard.get(1)) == events.Put("a", queue="q")


def test_b78_a_killed_connection_is_noticed(client, redis):
    with client.events.subscribe() as heard:
        redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        with pytest.raises(RedisUnavailable):
            heard.get(5)

        assert heard.get() is None
        client.queues["q"].put("Job", {}, jid="a")
        assert heard.drain() == [events.Put("a", queue="q")]


def test_b78_after_a_long_silence_the_server_is_asked_for_a_sign_of_life(client, clock, redis):
    with client.events.subscribe() as heard:
        clock.advance(subscription.PING_AFTER_S + 1)
        assert heard.get() is None
        eventually(lambda: redis.info("commandstats").get("cmdstat_ping"))
        heard.get(1)

        clock.advance(subscription.ANSWER_WITHIN_S + 1)
        assert heard.get() is None


def test_b78_a_server_that_stays_silent_counts_as_gone(clock):
    with (
        EmbeddedServer() as server,
        Client(server.url, clock=clock) as client,
        client.events.subscribe() as heard,
    ):
        assert heard.get() is None
        clock.advance(subscription.PING_AFTER_S + 1)
        client.redis.execute_command("CLIENT", "PAUSE", "600000", "ALL")

        assert heard.get() is None
        clock.advance(subscription.ANSWER_WITHIN_S + 1)

        with pytest.raises(RedisUnavailable, match="no sign of life"):
            heard.get()
