"""What an address means, before anybody connects."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from redis import Redis

from qless_core.address import address_of
from qless_core.client import Client, connect
from qless_core.connection import pool_of
from qless_core.errors import BadArgument, ClusterNeedsTag
from qless_core.masking import hushed, masked
from qless_web.operations.ordering import workshop

ODD = "p@ss:w/rd#%?"


def settings_of(url):
    return pool_of(url).connection_kwargs


@pytest.mark.parametrize(
    ("url", "means"),
    [
        ("redis://", {"host": "localhost", "port": 6379}),
        ("redis://h", {"host": "h", "port": 6379}),
        ("redis://h:1/2", {"host": "h", "port": 1, "db": 2}),
        ("redis://h?db=3", {"db": 3}),
        ("redis://:pw@h", {"password": "pw"}),
        ("redis://me:pw@h", {"username": "me", "password": "pw"}),
        (f"redis://me:{quote(ODD, safe='')}@h:1/0", {"password": ODD}),
        ("redis://h?password=p%40%23", {"password": "p@#"}),
        ("redis://[::1]:6379/2", {"host": "::1", "port": 6379, "db": 2}),
        ("redis://[::1]", {"host": "::1", "port": 6379}),
        ("unix:///run/redis.sock?db=3", {"path": "/run/redis.sock", "db": 3}),
        ("unix://:pw@/run/redis.sock", {"path": "/run/redis.sock", "password": "pw"}),
        ("unix:///run/a%20b.sock", {"path": "/run/a b.sock"}),
        ("rediss://h:1?ssl_ca_certs=/ca.pem", {"host": "h", "ssl_ca_certs": "/ca.pem"}),
        ("rediss://h?ssl_cert_reqs=none&ssl_check_hostname=no", {"ssl_check_hostname": False}),
        ("redis://h?socket_timeout=1.5&max_connections=7", {"socket_timeout": 1.5}),
    ],
)
def test_b74_an_address_of_one_server(url, means):
    assert means.items() <= settings_of(url).items()


def test_b74_an_address_of_sentinels():
    address = address_of(
        "redis+sentinel://me:p%40@a:1,[::1],c/main/2"
        "?sentinel_username=it&sentinel_password=q%23&socket_timeout=2"
    )

    assert address.places == (("a", 1), ("::1", 26379), ("c", 26379))
    assert address.service == "main"
    assert address.settings == {
        "username": "me",
        "password": "p@",
        "db": 2,
        "socket_timeout": 2.0,
    }
    assert address.sentinel_settings == {"username": "it", "password": "q#", "socket_timeout": 2.0}
    assert str(address) == "redis+sentinel://a:1,[::1]:26379,c:26379/main/2"


def test_b74_an_address_of_a_cluster():
    address = address_of("rediss+cluster://:pw@a:1,b?namespace={ql}:&ssl_ca_certs=/ca.pem")

    assert address.places == (("a", 1), ("b", 6379))
    assert address.is_tls
    assert address.settings == {"password": "pw", "ssl_ca_certs": "/ca.pem"}
    assert address.namespace == "{ql}:"
    assert str(address) == "rediss+cluster://a:1,b:6379/0"


@pytest.mark.parametrize(
    ("url", "replicas"),
    [
        ("redis://h", 0),
        ("redis://h?replicas=2", 2),
        ("unix:///s?replicas=1", 1),
        ("redis+sentinel://h/main", 1),
        ("redis+cluster://h?replicas=0", 0),
    ],
)
def test_replicas_are_waited_for_where_they_may_take_over(url, replicas):
    assert pool_of(url).replication.replicas == replicas


@pytest.mark.parametrize(
    ("url", "because"),
    [
        ("http://:s3cret@h", "it must begin with"),
        ("redis+other://:s3cret@h", "it must begin with"),
        ("redis:h", "it must begin with"),
        ("s3cret", "it must begin with"),
        ("redis://:s3cret@h:port", "its host or port cannot be read"),
        ("redis://:s3cret@[::1", "its host or port cannot be read"),
        ("redis://:s3#cret@h", "it holds a #"),
        ("redis://:s3cret@h/main", "its path must be the number of a database"),
        ("redis://:s3cret@a,b", "it names several hosts"),
        ("unix://:s3cret@", "it names no socket"),
        ("redis+sentinel://:s3cret@a,b", "it lacks the name"),
        ("redis+sentinel://:s3cret@a/main/x", "its path must be the number of a database"),
        ("redis+cluster://:s3cret@a/main", "its path must be the number of a database"),
        ("redis://:s3cret@h?db=x", "the value of db means nothing"),
        ("redis://:s3cret@h?replicas=-1", "replicas must be a number"),
        ("redis://:s3cret@h?no_such_option=1", "the option no_such_option means nothing"),
        (
            "redis://:s3cret@h?db=1&socket_timeot=1",
            "socket_timeot means nothing; did you mean socket_timeout?",
        ),
        ("unix://:s3cret@/s?name_space=a", "name_space means nothing; did you mean namespace?"),
        (
            "redis://:s3cret@h?sentinel_password=s3cret",
            "the value of sentinel_password means nothing",
        ),
        ("rediss://:s3cret@h?ssl_cert_reqs=perhaps", "the value of ssl_cert_reqs means nothing"),
        ("redis+sentinel://:s3cret@a/main?sentinel_x=1", "the option sentinel_x means nothing"),
        ("redis://pa?s3cret=word@h", "an option or a value that means nothing"),
        ("localhost:6379", "as redis://localhost:6379/0 does"),
        ("", "as redis://localhost:6379/0 does"),
        ("redis://:s3cret@h?namespace={ql", "must have both braces"),
    ],
)
def test_b74_b76_a_bad_address_is_reported_without_its_secrets(url, because):
    with pytest.raises(BadArgument) as refusal:
        Client(url)

    assert because in str(refusal.value)
    assert "s3cret" not in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis+sentinel://me:s@a:1,b:2/main/0", "redis+sentinel://me:***@a:1,b:2/main/0"),
        (
            "redis+sentinel://a/main?sentinel_password=s&sentinel_username=it",
            "redis+sentinel://a/main?sentinel_password=***&sentinel_username=it",
        ),
        (
            "rediss+cluster://:s@a,[::1]:2?namespace={ql}:",
            "rediss+cluster://:***@a,[::1]:2?namespace={ql}:",
        ),
        ("redis+cluster://:s,t@a", "redis+cluster://:***@a"),
        ("redis+cluster://a,s@b,c", "redis+cluster://***@b,c"),
        ("redis+cluster://a:1,b:s3cret", "redis+cluster://***"),
        ("unix://me:s@/a/b.sock?db=3", "unix://me:***@/a/b.sock?db=3"),
    ],
)
def test_b76_every_form_of_address_is_shown_without_its_secrets(url, shown):
    assert masked(url) == shown
    assert hushed(f"cannot reach {url}") == f"cannot reach {shown}" or "***" in hushed(url)


def test_the_address_may_name_the_namespace():
    assert Client("redis://h?namespace=shop:").namespace == "shop:"
    assert Client("redis://h?namespace=shop:", namespace="shop:").keys.queues == "shop:queues"
    assert Client("redis://h", namespace="shop:").namespace == "shop:"
    with pytest.raises(BadArgument, match=r"for the namespace 'shop:', not 'other:'"):
        Client("redis://h?namespace=shop:", namespace="other:")


def test_a_client_of_the_same_server_may_have_another_namespace_than_its_address_names(server):
    """As that of the console's operations has."""
    with Client(f"{server.url}?namespace={{x}}:") as client, workshop(client) as other:
        assert (client.namespace, other.namespace) == ("{x}:", "{x}:web:ops:")
        assert other.queues["operations"].counts.waiting == 0
        assert Client(redis=client.redis).namespace == client.twin().namespace == "{x}:"


def test_b72_the_address_of_a_cluster_needs_a_namespace_with_a_tag():
    with pytest.raises(ClusterNeedsTag, match=r"choose one like '\{ql\}:'") as refusal:
        Client("redis+cluster://nobody-is-asked")

    assert isinstance(refusal.value, BadArgument)
    assert refusal.value.namespace == "ql:"
    assert Client("redis+cluster://h", namespace="{a}:").namespace == "{a}:"
    assert pool_of("redis+cluster://h").address.kind == "cluster"  # only the address is looked at


@pytest.mark.parametrize("make", [Client, connect])
@pytest.mark.parametrize(
    ("url", "because"),
    [
        (None, "there is no Redis URL, but None: is REDIS_URL set?"),
        (
            Redis(password="s3cret"),  # noqa: S106 - of nothing
            "not redis.client.Redis; a client of redis-py is given as `redis=`",
        ),
        (
            b"redis://:s3cret@h",
            "a Redis URL is text, as redis://localhost:6379/0, not builtins.bytes",
        ),
        (6379, "not builtins.int"),
    ],
)
def test_what_is_no_address_is_refused(make, url, because):
    with pytest.raises(BadArgument) as refusal:
        make(url)

    assert because in str(refusal.value)
    assert "s3cret" not in str(refusal.value)
