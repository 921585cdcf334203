"""The port is ours from the moment it is taken."""

from __future__ import annotations

import pytest

from qless_web.process.errors import StartError
from qless_web.process.listening import listen
from qless_web.settings import Settings


def test_two_that_start_at_once_never_share_a_port():
    with listen(Settings.build(port=0)) as first:
        port = first.getsockname()[1]

        with pytest.raises(StartError, match=f"port {port} of 127.0.0.1 cannot be used"):
            listen(Settings.build(port=port))
