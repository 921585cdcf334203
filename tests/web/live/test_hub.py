"""What browsers hear, from a hub over a real server."""

from __future__ import annotations

import itertools
import os
import signal
import threading

import pytest

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.reads import plan
from qless_web.live import sse
from qless_web.live.hub import Hub, HubClosed, HubFull
from tests.support.polling import eventually
from tests.support.streams import Listener


def live_threads():
    return [thread for thread in threading.enumerate() if thread.name == "qless-live"]


def test_a_put_is_heard_of_by_those_who_look_at_its_queue(client, listen):
    mail, bills = listen("queue:mail"), listen("queue:bills")

    client.queues["mail"].put("Send", {})

    assert mail.wait_for("change").topics == ["queue:mail"]
    client.queues["bills"].put("Write", {})
    assert bills.wait_for("change").topics == ["queue:bills"]


@pytest.mark.parametrize(
    "name", ["a/b", "..", "ü ~2F", "q?x#y", "<b>", "a,b", "a:b", "x\ny", "\udcff"]
)
def test_names_of_any_kind_are_heard_of(client, listen, name):
    listener = listen(f"queue:{name}", f"job:{name}")

    client.commands.put("", name, name, "Send", "{}", 0)  # as other clients may: of any bytes

    listener.wait_for("change", f"queue:{name}")
    listener.wait_for("change", f"job:{name}")


def _put(client):
    client.queues["mail"].put("Send", {}, jid="first")
    client.clock.advance(1)
    client.queues["mail"].put("Send", {}, jid="second")


def _retry(client):
    client.jobs["first"].retry()


def _tag(client):
    client.jobs["first"].tag("vip")


def _pop(client):
    client.queues["mail"].pop()


def _raise(client):
    client.jobs["second"].priority = 7


def _file(client):
    """Put a job into a group, as a retry that was one too many does."""
    client.redis.lpush("ql:f:odd", "first")
    client.redis.sadd("ql:failures", "odd")


def _swap(client):
    """Put one and pop one: all counts are as before."""
    client.queues["mail"].put("Send", {}, jid="third")
    client.jobs["first"].complete()
    client.queues["mail"].pop()


@pytest.mark.parametrize(
    ("change", "topics"),
    [
        (_pop, {"queues", "queue:mail", "workers", "job:second"}),
        (_retry, {"queues", "queue:mail", "workers", "worker:worker-1", "job:first"}),
        (lambda client: client.queues["mail"].pause(), {"queues", "queue:mail"}),
        (_tag, {"tags", "tag:vip", "job:first"}),
        (_raise, {"job:second", "queue:mail"}),
        (
            lambda client: client.queues["mail"].recur("Send", {}, interval=60, jid="again"),
            {"queues", "queue:mail", "job:again"},
        ),
        (lambda client: client.track("second"), {"tracked", "job:second"}),
        (lambda client: client.jobs["first"].heartbeat(), {"job:first", "worker:worker-1"}),
        (lambda client: client.redis.hset("ql:config", "heartbeat", 99), {"config"}),
        (_file, {"failures", "failed:odd"}),
        (lambda client: client.redis.zadd("ql:completed", {"first": 1}), {"completed"}),
        (_swap, {"queue:mail", "queues"}),
    ],
)
def test_b44_what_the_log_never_tells_is_found_by_the_tick(client, clock, listen, change, topics):
    _put(client)
    client.queues["mail"].pop()
    clock.advance(1)
    listener = listen(*topics)

    change(client)

    for topic in topics:
        listener.wait_for("change", topic)


def test_a_lock_that_runs_out_is_seen_although_nothing_happens(client, clock, listen):
    _put(client)
    client.queues["mail"].pop()
    listener = listen("queues", "queue:mail", "workers", "worker:worker-1")

    clock.advance(61)

    for topic in ("queues", "queue:mail", "workers", "worker:worker-1"):
        listener.wait_for("change", topic)


def test_the_counts_around_the_page_are_a_topic_too(client, listen):
    listener = listen("rail")

    client.queues["mail"].put("Send", {})

    listener.wait_for("change", "rail")


def test_a_browser_hears_only_of_what_it_asked_for(client, listen):
    config, queues = listen("config"), listen("queues")

    client.queues["mail"].put("Send", {})
    queues.wait_for("change", "queues")
    client.config["heartbeat"] = 30

    assert config.wait_for("change").topics == ["config"]


def test_a_change_is_told_once_although_event_and_tick_both_find_it(client, listen):
    listener = listen("queue:mail", "config")

    for number in range(5):
        client.queues["mail"].put("Send", {}, jid=f"j{number}")
        eventually(lambda: _told(listener, "queue:mail") == number + 1)  # noqa: B023 - called now
        before = len(listener.messages)
        client.config["heartbeat"] = 30 + number
        listener.wait_for("change", "config", after=before)

    assert _told(listener, "queue:mail") == 5


def _told(listener, topic):
    return len(
        [each for each in listener.messages if each.event == "change" and topic in each.topics]
    )


def test_a_storm_of_changes_becomes_few_signals(client, listen):
    listener = listen("queues")

    for _ in range(300):
        client.queues["mail"].put("Send", {})
    client.queues["last"].put("Send", {})
    listener.wait_for("change", "queues")
    client.config["heartbeat"] = 30
    eventually(lambda: len(listener.messages) > 2, within=5)

    assert len([each for each in listener.messages if each.event == "change"]) < 10


def test_two_signals_are_at_least_four_tenths_of_a_second_apart(client, listen, monkeypatch):
    moments, clock = [], Clock()
    signal = Hub.signal

    def noted(hub, changed):
        moments.append(clock.monotonic())
        signal(hub, changed)

    monkeypatch.setattr(Hub, "signal", noted)
    listener = listen("queues")
    while len(moments) < 4:
        before = len(listener.messages)
        client.queues["mail"].put("Send", {})
        listener.wait_for("change", after=before)

    assert min(later - earlier for earlier, later in itertools.pairwise(moments)) > 0.39


def test_browsers_that_hear_the_same_share_the_bytes(client, hub):
    def read(stream, heard):
        heard.extend(stream.messages())

    raw = [[] for _ in range(5)]
    for number, heard in enumerate(raw):
        stream = hub.open(frozenset({"queues", f"job:{number}"}))
        threading.Thread(target=read, args=(stream, heard), daemon=True).start()
    eventually(lambda: all(len(heard) >= 2 for heard in raw))

    client.queues["mail"].put("Send", {})

    eventually(lambda: all(len(heard) >= 3 for heard in raw))
    assert b"change" in raw[0][2]
    assert len({id(heard[2]) for heard in raw}) == 1


MALFORMED = [
    "",
    "{",
    "null",
    "[]",
    "5",
    "{}",
    '{"event": "put"}',
    '{"event": "put", "jid": 5, "queue": ["x"]}',
    '{"event": ["put"]}',
    '{"event": "explode"}',
    "\x00",
    "[" * 100_000,
]


def test_foreign_and_malformed_messages_harm_nobody(client, redis, listen):
    listener = listen("queues")

    for message in (
        "",
        "{",
        "null",
        "[]",
        "5",
        "{}",
        '{"event": "put"}',
        '{"event": "put", "jid": 5, "queue": ["x"]}',
        '{"event":["put"]}',
        "\x00",
        "[" * 100_000,
        '{"event": "explode"}',
    ):
        redis.publish("ql:log", message)
        redis.publish("other:log", message)
    redis.execute_command("PUBLISH", "ql:log", b"\xff\xfe{\x80")
    redis.publish("ql:put", "x" * 100_000)
    client.queues["mail"].put("Send", {})

    listener.wait_for("change", "queues")
    assert not listener.ended


def test_keys_of_a_foreign_type_harm_nobody(redis, listen):
    for key in ("q:mail-work", "q:mail-locks", "workers", "failures", "config", "tags", "j:x"):
        redis.set(f"ql:{key}", "odd")
    redis.zadd("ql:queues", {"mail": 1, "other": 1})
    listener = listen(
        "queues", "queue:mail", "workers", "failures", "config", "tags", "job:x", "rail"
    )

    redis.zadd("ql:q:other-depends", {"a": 1})

    listener.wait_for("change", "queues")


def test_another_namespace_in_the_same_database_is_not_heard(server, client, listen):
    listener = listen("queues", "queue:mail")
    with Client(server.url, namespace="other:", clock=client.clock) as stranger:
        stranger.queues["mail"].put("Send", {})
    client.queues["bills"].put("Send", {})

    assert listener.wait_for("change").topics == ["queues"]


def test_there_is_one_subscription_however_many_browsers_look(redis, hub, listen):
    for number in range(20):
        listen("queues", f"job:{number}")

    assert len(redis.client_list(_type="pubsub")) == 1
    assert len(live_threads()) == 1
    assert hub.streams == 20


def test_above_the_cap_there_is_no_room_until_somebody_leaves(make_hub):
    hub = make_hub(live_max_streams=2)
    first, _second = hub.open(frozenset({"queues"})), hub.open(frozenset({"queues"}))

    with pytest.raises(HubFull):
        hub.open(frozenset({"queues"}))
    first.close()
    first.close()

    hub.open(frozenset({"queues"}))
    assert hub.streams == 2


def test_closing_ends_every_stream_with_a_bye_and_takes_no_more(hub, listen):
    listeners = [listen("queues") for _ in range(5)]

    hub.close()

    for listener in listeners:
        listener.wait_for_end()
        assert listener.messages[-1].event == "bye"
    assert hub.streams == 0
    eventually(lambda: not live_threads())
    with pytest.raises(HubClosed):
        hub.open(frozenset({"queues"}))


def test_closing_within_a_signal_handler_waits_for_nothing(hub):
    stream = hub.open(frozenset({"queues"}))

    with hub._lock:  # noqa: SLF001 - what the handler may have interrupted
        hub.close()

    assert list(stream.messages())[-1] == sse.BYE


def test_the_first_bytes_come_at_once_even_without_redis(make_hub):
    with Client("redis://:hidden-word@127.0.0.1:1/0") as nowhere:
        hub = make_hub(nowhere)
        listener = Listener(hub.open(frozenset({"queues"})).messages())

        reason = listener.wait_for("down").data["reason"]

    assert "127.0.0.1:1" in reason
    assert "hidden-word" not in reason
    assert listener.messages[0].event == ""


def test_b78_redis_goes_and_comes_back(make_hub, tmp_path):
    home = tmp_path / "r"
    server = EmbeddedServer(home).start()
    client = Client(server.url)
    hub = make_hub(client)
    listener = Listener(hub.open(frozenset({"queues"})).messages())
    listener.wait_for("ready")

    server.stop()
    listener.wait_for("down")
    late = Listener(hub.open(frozenset({"queues"})).messages())
    late.wait_for("down")
    with EmbeddedServer(home):
        listener.wait_for("up")
        late.wait_for("ready")
        before = len(listener.messages)
        client.queues["mail"].put("Send", {})
        listener.wait_for("change", "queues", after=before)
        hub.close()
    client.close()


def test_b68_redis_falls_silent_without_a_word_and_goes_on(make_hub):
    with EmbeddedServer() as silent, Client(f"{silent.url}?socket_timeout=0.3") as client:
        pid = client.redis.info("server")["process_id"]
        hub = make_hub(client)
        listener = Listener(hub.open(frozenset({"queues"})).messages())
        listener.wait_for("ready")

        os.kill(pid, signal.SIGSTOP)
        try:
            listener.wait_for("down")
        finally:
            os.kill(pid, signal.SIGCONT)

        listener.wait_for("up")
        before = len(listener.messages)
        client.queues["mail"].put("Send", {})
        listener.wait_for("change", "queues", after=before)
        hub.close()
        eventually(lambda: not live_threads())


def test_b78_a_subscription_that_is_cut_is_made_again(client, redis, listen):
    listener = listen("queues", "tracked")

    redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    # What was said meanwhile is lost, so everything counts as changed.
    listener.wait_for("change", "tracked")

    before = len(listener.messages)
    client.queues["mail"].put("Send", {})
    listener.wait_for("change", "queues", after=before)
    assert not [each for each in listener.messages if each.event == "down"]


def test_a_user_without_channels_still_sees_changes_by_the_tick(server, client, redis, make_hub):
    redis.execute_command(
        "ACL", "SETUSER", "deaf", "on", ">word", "~ql:*", "resetchannels", "+@all"
    )
    deaf = Client(server.url.replace("unix://", "unix://deaf:word@"), clock=client.clock)
    try:
        listener = Listener(make_hub(deaf).open(frozenset({"queues"})).messages())
        listener.wait_for("ready")
        client.queues["mail"].put("Send", {})

        listener.wait_for("change", "queues")
        assert not [each for each in listener.messages if each.event == "down"]
    finally:
        redis.execute_command("ACL", "DELUSER", "deaf")
        deaf.close()


def test_who_comes_back_is_told_what_was_missed_and_nothing_else(client, hub):
    stream = hub.open(frozenset({"queues", "config"}))
    listener = Listener(stream.messages())
    last = listener.wait_for("ready").id
    stream.end()
    listener.wait_for_end()

    client.queues["mail"].put("Send", {})
    other = Listener(hub.open(frozenset({"queues", "config"}), last).messages())

    eventually(lambda: "queues" in str(other.messages))
    assert "config" not in str(other.messages)


def test_who_comes_back_and_missed_nothing_is_told_so(listen):
    last = listen("queues").wait_for("ready").id

    assert listen("queues", last_id=last).wait_for("ready").topics == []


@pytest.mark.parametrize(
    "last",
    ["", "x", "0", "12", "nobody-1", "{}-99999", "{}-", "{}--1", "{}-1e3", "{}-" + "9" * 400],
)
def test_who_comes_with_an_id_that_means_nothing_looks_at_everything(listen, last):
    hub_name = listen("queues", "config").wait_for("ready").id.partition("-")[0]

    heard = listen("queues", "config", last_id=last.format(hub_name))

    assert heard.wait_for("ready").topics == ["config", "queues"]


def test_a_topic_nobody_watched_counts_as_missed(listen):
    last = listen("queues").wait_for("ready").id

    assert listen("queues", "config", last_id=last).wait_for("ready").topics == ["config"]


def test_the_thread_ends_a_while_after_the_last_browser_and_starts_again(
    client, hub, listen, monkeypatch
):
    monkeypatch.setattr("qless_web.live.hub.LINGER_S", 0.1)
    stream = hub.open(frozenset({"queues"}))
    Listener(stream.messages()).wait_for("ready")

    stream.end()

    eventually(lambda: not live_threads())
    listener = listen("queues")
    client.queues["mail"].put("Send", {})
    listener.wait_for("change", "queues")


def test_watching_costs_a_bounded_number_of_commands(redis, listen, monkeypatch):
    with redis.pipeline(transaction=False) as pipe:
        for number in range(2_000):
            pipe.zadd("ql:queues", {f"q{number}": number})
            pipe.sadd("ql:failures", f"g{number}")
            pipe.zadd("ql:workers", {f"w{number}": number})
        pipe.execute()
    sent = []
    send = plan._answers  # noqa: SLF001 - the one place that all reads pass

    def counted(client, calls):
        sent.append(len(calls))
        return send(client, calls)

    monkeypatch.setattr(plan, "_answers", counted)
    listen("queues", "failures", "workers", *(f"queue:q{number}" for number in range(190)))
    sent.clear()
    eventually(lambda: len(sent) > 10)

    assert max(sent) < 2_000


def test_of_many_queues_each_is_looked_at_in_its_turn(redis, listen):
    redis.zadd("ql:queues", {f"q{number}": number for number in range(300)})
    listener = listen("queues")

    for number in (0, 150, 299):
        before = len(listener.messages)
        eventually(lambda: _heard_of(redis, number, listener, before))  # noqa: B023 - called now


def _heard_of(redis, number, listener, before):
    """Change the queue once more: the first look at it tells of nothing."""
    size = redis.zcard(f"ql:q:q{number}-depends")
    redis.zadd(f"ql:q:q{number}-depends", {str(size): 1})
    return any(each.event == "change" for each in listener.messages[before:])
