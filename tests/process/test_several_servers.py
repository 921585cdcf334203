"""The command shows several servers: named once each, on the command line or in the environment."""

from __future__ import annotations

from qless_core import Client
from qless_core.embedded import EmbeddedServer


def test_each_server_is_shown_by_its_name(qless_web):
    with EmbeddedServer() as one, EmbeddedServer() as two:
        with Client(two.url) as client:
            client.queues["letters"].put("Letter", {}, jid="a")
        console = qless_web.start(
            "--redis-url", f"shop={one.url}", "--redis-url", f"mail={two.url}"
        )

        assert console.redis_url == f"shop ({one.url}), mail ({two.url})"
        assert "letters" in console.get("/servers/mail/queues")[1]
        assert console.get("/servers/shop/queues/letters")[0] == 404
        assert "shop" in console.get("/")[1]
        assert console.end() == 0


def test_of_several_each_needs_a_name(qless_web):
    done = qless_web.run("-F", "--redis-url", "shop=redis://a", "--redis-url", "redis://b")

    assert done.returncode == 2
    assert "each needs a name" in done.stderr


def test_the_last_of_several_without_a_name_counts_as_ever(qless_web):
    with EmbeddedServer() as server:
        console = qless_web.start("--redis-url", "redis://nowhere", "--redis-url", server.url)

        assert console.redis_url == server.url


def test_a_demo_beside_servers_is_refused(qless_web):
    done = qless_web.run("--demo", "-F", "--redis-url", "a=redis://a")

    assert done.returncode == 2
    assert "brings a Redis of its own" in done.stderr


def test_a_server_of_its_own_counts_before_those_of_the_environment(qless_web, tmp_path):
    console = qless_web.start("--embedded", str(tmp_path / "data"), QLESS_WEB_SERVERS="a=redis://a")

    assert console.redis_url.startswith("unix://")
