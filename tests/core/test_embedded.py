"""The embedded server where it cannot start, or is not open to everybody."""

from __future__ import annotations

import tempfile

import pytest
import redis

from qless_core.embedded import EmbeddedServer


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Let what is temporary lie in a folder of this test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("deep", [False, True], ids=["temporary", "kept"])
def test_a_server_that_cannot_even_be_launched_leaves_nothing_behind(temporary, deep):
    home = temporary / ("long" * 30) / "data" if deep else None  # its socket lies elsewhere

    with pytest.raises(ValueError, match="null"):
        EmbeddedServer(home, options={"logfile": "a\0b"}).start()

    assert [each.name for each in temporary.iterdir() if each.name.startswith("qless-")] == []


def test_a_server_that_asks_for_a_password_starts():
    with (
        EmbeddedServer(options={"requirepass": "secret"}) as server,
        redis.Redis.from_url(server.url, password="secret") as client,  # noqa: S106 - of this test
    ):
        assert client.ping()
