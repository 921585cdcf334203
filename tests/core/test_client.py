from __future__ import annotations

import os
import signal
import socket
from urllib.parse import quote

import pytest
import redis as redis_py

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.errors import BadArgument, JobNotFound, RedisUnavailable
from qless_core.masking import hushed, masked
from qless_core.script import Script
from tests.support.ports import free_port

ODD = "p@ss:w/rd#%?"


@pytest.fixture
def guarded():
    """Run a server that wants a password."""
    with EmbeddedServer() as server:
        demand_password(server)
        yield server


def demand_password(server):
    with redis_py.Redis.from_url(server.url) as plain:
        plain.config_set("requirepass", ODD)


def works(client):
    jid = client.queues["q"].put("Job", {"a": 1})
    return client.queues["q"].pop().jid == jid


def test_b74_a_unix_socket_with_a_database_and_a_password_of_odd_characters(guarded):
    path = guarded.url.removeprefix("unix://")
    for url in (
        f"unix://:{quote(ODD, safe='')}@{path}?db=3",
        f"unix://{path}?db=3&password={quote(ODD, safe='')}",
    ):
        with Client(url) as client, client.events.subscribe() as events:
            assert works(client)
            assert [type(event).__name__ for event in events.drain()] == ["Put"]
            assert client.redis.connection_pool.connection_kwargs["db"] == 3


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_b74_a_host_by_its_address_on_the_second_connection_too(host):
    """Q21."""
    port = free_port(host)
    with EmbeddedServer(port=port, options={"bind": host}) as server:
        demand_password(server)
        shown = f"[{host}]" if ":" in host else host
        with (
            Client(f"redis://:{quote(ODD, safe='')}@{shown}:{port}/2") as client,
            client.events.subscribe() as events,
        ):
            assert works(client)
            assert len(events.drain()) == 1
            assert client.safe_url == f"redis://:***@{shown}:{port}/2"


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{ODD}@localhost:6379/0",
        "redis://user:secret#word@localhost/0",
        "redis://:secret/word@localhost/0",
        "redis://:secret@localhost:secret/0",
        "redis://:secret@localhost/secret",
        "redis://:secret@localhost/0?socket_timeout=secret",
        "redis://:secret@localhost/0?nonsense=secret",
        "http://:secret@localhost/0",
        "redis://:secret@[::1/0",
        "unix://:secret@?db=1",
        ":secret@localhost",
        "",
    ],
)
def test_b74_b76_a_bad_url_is_refused_without_its_password(url):
    with pytest.raises(BadArgument, match="cannot be used") as refusal:
        Client(url)

    shown = f"{refusal.value} {refusal.value.__context__} {refusal.value.__cause__}"
    for secret in (ODD, "p@ss", "ss:w", "rd#", ":secret", "secret@", "secret/word"):
        assert secret not in str(refusal.value)
    assert refusal.value.__suppress_context__, shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://:secret@localhost/1", "redis://:***@localhost/1"),
        ("rediss://me:secret@host:1/2", "rediss://me:***@host:1/2"),
        ("redis://s3cret@host", "redis://***@host"),
        ("redis://h/0?pass=secret", "redis://h/0?pass=***"),
        ("redis://h/0?PWD=secret&auth=secret&db=1", "redis://h/0?PWD=***&auth=***&db=1"),
        ("redis://:s%40%2F%23@[::1]:6379/2", "redis://:***@[::1]:6379/2"),
        ("unix://:secret@/a/b.sock?db=3", "unix://:***@/a/b.sock?db=3"),
        ("unix:///a/b.sock?db=3&password=secret", "unix:///a/b.sock?db=3&password=***"),
        ("rediss://h/0?ssl_password=secret&db=1", "rediss://h/0?ssl_password=***&db=1"),
        ("redis://:p@ss@host/0", "redis://:***@host/0"),
        ("redis://:p/ss@host/0", "redis://***"),
        ("redis://:p#ss", "redis://***"),
        ("redis://host/0?password=a@b", "redis://***"),
        ("secret", "***"),
    ],
)
def test_b76_the_address_is_shown_without_its_secrets(url, shown):
    assert masked(url) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no --redis-ur=redis://:s3cret@h", "no --redis-ur=redis://***@h"),
        ("not 'redis://:s3cret@h' here", "not 'redis://***@h' here"),
        ("no redis://:s3 cr@t@h", "no redis://***@h"),
        ("no redis://s3cret@h, redis://:s3cret@i", "no redis://***@i"),
        ("no redis://h/0?pwd=s3cret&db=1", "no redis://h/0?pwd=***&db=1"),
        ("no redis://:s3cret", "no redis://***"),
        ("the URL redis://me:***@h:1/0 is bad", "the URL redis://me:***@h:1/0 is bad"),
        ("port 80 of a@b is taken", "port 80 of a@b is taken"),
        ("serves http://127.0.0.1:80/a?b=1", "serves http://127.0.0.1:80/a?b=1"),
    ],
)
def test_b76_any_text_is_shown_without_the_secrets_of_urls(text, shown):
    assert hushed(text) == shown


def test_b76_nothing_of_the_client_shows_the_password():
    client = Client("redis://:secret@localhost:1/0")

    with pytest.raises(RedisUnavailable) as trouble:
        client.queues["q"].pop()
    with pytest.raises(RedisUnavailable) as silence:
        client.now()

    for text in (str(trouble.value), str(silence.value), repr(client)):
        assert "secret" not in text


def test_a_client_can_be_made_from_another_with_its_connection_settings(server, redis, clock):
    plain = redis_py.Redis.from_url(server.url)

    client = Client(redis=plain, clock=clock)

    assert works(client)
    assert client.url is None
    assert client.safe_url == f"{server.url}?db=0"
    assert redis.hget("ql:j:" + client.queues["q"].jobs.running()[0], "state") == "running"
    client.close()
    plain.close()


def test_another_namespace_is_another_qless(server, redis, clock):
    with Client(server.url, namespace="other:", clock=clock) as other:
        jid = other.queues["q"].put("Job", {})
        assert other.jobs[jid].state == "waiting"

    assert redis.keys("ql:*") == []
    assert redis.exists(f"other:j:{jid}") == 1


def test_the_worker_is_named_after_host_and_process():
    assert Client().worker_name == f"{socket.gethostname()}-{os.getpid()}"
    assert Client(worker_name="w").worker_name == "w"


def test_the_time_is_the_servers_unless_a_clock_is_given(server, client, clock):
    assert client.now() == clock.now()

    with Client(server.url) as other:
        assert abs(other.now() - Clock().now()) < 60
        jid = other.queues["q"].put("Job", {})
        assert abs(other.jobs[jid].history[0].when - Clock().now()) < 60


def test_connections_are_bounded_and_more_are_refused_at_once(server, redis):  # noqa: ARG001 - it empties the server
    with Client(f"{server.url}?max_connections=1") as client:
        held = client.redis.connection_pool.get_connection()
        with pytest.raises(RedisUnavailable):
            client.queues["q"].pop()

        client.redis.connection_pool.release(held)
        assert client.queues["q"].pop() is None


def test_every_connection_has_finite_timeouts_and_no_retries():
    kwargs = Client().redis.connection_pool.connection_kwargs

    assert kwargs["socket_timeout"] > 0
    assert kwargs["socket_connect_timeout"] > 0
    assert kwargs["retry"].get_retries() == 0


def test_b67_the_script_is_loaded_again_when_the_server_forgot_it(client, redis):
    client.queues["q"].put("Job", {}, jid="a")
    redis.script_flush()
    redis.function_flush()

    client.queues["q"].put("Job", {}, jid="b")

    assert sorted(job.jid for job in client.queues["q"].pop(5)) == ["a", "b"]


def test_b67_a_refusal_is_no_reason_to_load_it_again(client, redis):
    client.queues["q"].pop()
    redis.config_resetstat()

    with pytest.raises(JobNotFound):
        client.commands.priority("nobody", 1)

    stats = redis.info("commandstats")
    assert stats["cmdstat_fcall"]["calls"] == 1
    assert not {"cmdstat_script|load", "cmdstat_function|load"} & stats.keys()


def test_b68_a_client_recovers_when_the_server_comes_back(tmp_path):
    place = tmp_path / "data"
    first = EmbeddedServer(place).start()
    with Client(first.url) as client:
        client.queues["q"].put("Job", {}, jid="a")
        first.stop()
        with pytest.raises(RedisUnavailable):
            client.queues["q"].pop()

        with EmbeddedServer(place):
            assert client.queues["q"].pop().jid == "a"


def test_bytes_that_are_no_text_survive_the_way_through(client):
    name = b"q\xff".decode("utf-8", "surrogateescape")

    jid = client.queues[name].put("Job", {})

    assert client.jobs[jid].queue_name == name
    assert [queue.name for queue in client.queues.counts] == [name]
    assert client.queues[name].pop().jid == jid


def test_clients_of_one_namespace_share_the_script(server, monkeypatch):
    made = []
    assemble = Script.__init__

    def counted(script, namespace):
        made.append(namespace)
        assemble(script, namespace)

    monkeypatch.setattr(Script, "__init__", counted)
    for _ in range(3):
        Client(server.url, namespace="shared-by-clients:").close()

    assert made == ["shared-by-clients:"]


@pytest.mark.parametrize(
    "namespace",
    ["'ql:'", '"ql:"', "`ql:", "{ql:", "ql}:", "}ql{:", "{}:", "q l:", "q\nl:", "{a}{b:"],
)
def test_a_namespace_that_must_be_a_slip_is_refused(namespace):
    with pytest.raises(BadArgument, match="namespace"):
        Client(namespace=namespace)


@pytest.mark.parametrize("namespace", ["", "ql:", "{ql}:", "{a}{b}:", "ü:", "team/a:", "x\\:"])
def test_a_namespace_may_be_any_other_text(namespace):
    Client(namespace=namespace).close()


def test_an_interrupted_call_leaves_no_answer_behind_for_the_next_one(client, redis):
    """As Ctrl-C between what is sent and its answer does, while the server takes its time."""
    queue = client.queues["q"]
    queue.put("Job", {}, jid="a")

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    redis.client_pause(60_000, all=False)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            queue.put("Job", {}, jid="b")
    finally:
        redis.client_unpause()
        signal.signal(signal.SIGALRM, before)

    assert client.jobs["a"].jid == "a"
    assert queue.counts.name == "q"
