from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import Command

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def qless_web(tmp_path) -> Iterator[Command]:
    home = tmp_path / "home"
    home.mkdir()
    command = Command(home)
    yield command
    command.end()


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
