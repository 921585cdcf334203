"""The script against the model, on every server there is."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from qless_core.embedded import EmbeddedServer
from qless_core.script import Script
from tests.support.servers import servers

#: For a night: `./test tests/model --hypothesis-profile=long`.
settings.register_profile(
    "long",
    max_examples=20_000,
    stateful_step_count=100,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

SERVERS = servers()


@pytest.fixture(scope="session", params=list(SERVERS))
def server(request):
    """Run a private server of each kind."""
    with EmbeddedServer(binary=SERVERS[request.param]) as server:
        yield server


@pytest.fixture(scope="session")
def script():
    return Script()
