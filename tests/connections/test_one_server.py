"""One server, reached in every way: each connection of a client is made alike."""

from __future__ import annotations

import os
import threading
from urllib.parse import quote

import pytest
from redis import Redis

import qless_core
from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.errors import BadArgument, NotPermitted, RedisUnavailable
from qless_core.worker.lines import Lines
from qless_web import create_app
from tests.connections.conftest import PASSWORD
from tests.support.certificates import certificates
from tests.support.nodes import Node, quoted
from tests.support.polling import eventually
from tests.support.ports import free_port
from tests.support.servers import servers


@pytest.fixture
def locked(tmp_path):
    """Run a server on a socket and a port that asks for an odd password."""
    node = Node(
        tmp_path / "node",
        {
            "requirepass": quoted(PASSWORD),
            "unixsocket": tmp_path / "s",
            "user": f"me on {quoted('>' + PASSWORD)} ~* &* +@all",
        },
        connection={"password": PASSWORD},
    )
    yield node.start()
    node.stop()


@pytest.mark.parametrize(
    "form",
    [
        "redis://:{password}@127.0.0.1:{port}/3",
        "redis://me:{password}@127.0.0.1:{port}/3",
        "redis://127.0.0.1:{port}/3?password={password}",
        "unix://:{password}@{socket}?db=3",
        "unix://me:{password}@{socket}?db=3",
    ],
)
def test_b74_every_connection_has_the_password_and_the_database(locked, tmp_path, use, form):
    password = quote(PASSWORD, safe="")
    url = form.format(password=password, port=locked.port, socket=tmp_path / "s")

    client = use(url)

    with locked.redis(db=3) as redis:
        assert redis.exists("ql:queues")
    assert in_a_fork(lambda: client.queues["used"].put("Job", {}, jid="forked")) == 0
    assert client.queues["used"].pop().jid == "forked"
    for text in (repr(client), client.safe_url, repr(client.redis)):
        assert PASSWORD not in text
        assert password not in text


def in_a_fork(call):
    """Make a call in a child process; answers what it ended with."""
    pid = os.fork()
    if not pid:
        try:
            call()
        except BaseException:  # noqa: BLE001 - the child must not go on as a test
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.usefixtures("locked")
def test_b74_the_console_reads_with_the_same_settings(tmp_path):
    client = Client(f"unix://:{quote(PASSWORD, safe='')}@{tmp_path / 's'}?db=3")
    client.queues["mail"].put("Job", {})
    app = create_app(client)

    with app.test_client() as web:
        assert "mail" in web.get("/queues").text
        page = web.get("/about").text

    assert PASSWORD not in page
    assert quote(PASSWORD, safe="") not in page
    assert "***" in page


def test_b74_a_wrong_password_is_said_without_saying_it(locked):
    for url in (f"redis://:wr0ng@127.0.0.1:{locked.port}", f"redis://127.0.0.1:{locked.port}"):
        with Client(url) as client, pytest.raises(NotPermitted) as refusal:
            client.queues["q"].pop()

        assert "password" in refusal.value.missing
        assert "wr0ng" not in str(refusal.value)


def test_b74_an_address_of_ipv6(tmp_path, use):
    node = Node(tmp_path / "node", {"bind": "::1"}, connection={"host": "::1"}).start()
    try:
        client = use(f"redis://[::1]:{node.port}/2")

        assert client.safe_url == f"redis://[::1]:{node.port}/2"
        assert node.redis(db=2).exists("ql:queues")
    finally:
        node.stop()


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    """Run a server that speaks TLS only, and wants a certificate of its clients."""
    folder = tmp_path_factory.mktemp("tls")
    program = servers().get("redis")
    assert program, "the system's redis-server is needed: ours speaks no TLS"
    assert _speaks_tls(program), f"{program} speaks no TLS"
    files, port = certificates(folder), free_port()
    node = Node(
        folder / "node",
        {
            "port": 0,
            "tls-port": port,
            "tls-cert-file": files.certificate,
            "tls-key-file": files.key,
            "tls-ca-cert-file": files.authority,
        },
        port=port,
        binary=program,
        connection={
            "ssl": True,
            "ssl_ca_certs": files.authority,
            "ssl_certfile": files.certificate,
            "ssl_keyfile": files.key,
        },
    )
    yield node.start(), files
    node.stop()


def test_b74_tls_with_an_authority_of_ones_own(encrypted, use):
    node, files = encrypted

    client = use(
        f"rediss://127.0.0.1:{node.port}/1?ssl_ca_certs={files.authority}"
        f"&ssl_certfile={files.certificate}&ssl_keyfile={files.key}"
    )

    assert in_a_fork(lambda: client.queues["used"].put("Job", {})) == 0


def test_b74_an_authority_that_is_not_known_is_not_trusted(encrypted):
    node, files = encrypted
    url = (
        f"rediss://127.0.0.1:{node.port}/1?ssl_certfile={files.certificate}&ssl_keyfile={files.key}"
    )

    with Client(url) as client, pytest.raises(RedisUnavailable, match="certificate verify failed"):
        client.queues["q"].pop()


def connecting():
    return [each for each in threading.enumerate() if each.name == "qless-connect"]


def test_that_no_child_can_inherit_a_connection_with_tls_is_found_out_once(encrypted, monkeypatch):
    node, files = encrypted
    url = (
        f"rediss://127.0.0.1:{node.port}/1?ssl_ca_certs={files.authority}"
        f"&ssl_certfile={files.certificate}&ssl_keyfile={files.key}"
    )
    with Client(url) as client:
        asked = []
        line = client.line
        monkeypatch.setattr(client, "line", lambda: asked.append(1) or line())
        lines = Lines(client, 1)
        lines.open()
        eventually(lambda: not connecting())

        for _ in range(3):
            assert lines.number(0) == 0
            eventually(lambda: not connecting())

        assert len(asked) == 1


def test_tls_to_a_port_without_it_says_how_to_do_without(node):
    url = f"rediss://127.0.0.1:{node.port}?socket_connect_timeout=0.5"

    with Client(url) as client, pytest.raises(RedisUnavailable) as trouble:
        client.queues["q"].pop()

    assert "does not speak TLS with us" in str(trouble.value)
    assert "begins with redis:// instead of rediss://" in str(trouble.value)


def test_a_database_that_there_is_not_is_refused(node):
    with Client(f"redis://127.0.0.1:{node.port}/99") as client:
        with pytest.raises(
            BadArgument, match="number of the database, at the end of the Redis URL"
        ):
            client.queues["q"].pop()
        with pytest.raises(BadArgument, match="number of the database"):
            client.now()


def _speaks_tls(program):
    with EmbeddedServer(binary=program) as server, Redis.from_url(server.url) as redis:
        return redis.config_get("tls-port") != {}


def test_connect_makes_a_client(node):
    with qless_core.connect(node.url, namespace="shop:", worker_name="w") as client:
        assert client.queues["q"].put("Job", {}, jid="j") == "j"
        assert client.queues["q"].pop().worker_name == "w"

    assert node.redis().exists("shop:j:j")


def test_the_settings_of_a_client_of_redis_py_are_taken_over(use):
    with EmbeddedServer() as server, Redis.from_url(f"{server.url}?db=5") as theirs:
        ours = use(redis=theirs)

        assert ours.safe_url == f"{server.url}?db=5"
        assert theirs.exists("ql:queues")
        assert Client(redis=ours.redis).safe_url == ours.safe_url
