"""The machine is worth something: it finds faults that were planted in the text of the script."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import Phase

from qless_core.embedded import EmbeddedServer
from tests.model.machine import QueueMachine, run

#: What goes wrong -> a piece of the script, and what stands there instead.
FAULTS = {
    "cancel leaves the job tracked, and tells nobody": (
        "local was_tracked = call('zrem', Key.tracked, jid) == 1",
        "local was_tracked = false",
    ),
    "a job that failed is counted for ever": (
        "math.max(floor(counted) - number, 0)",
        "math.max(floor(counted), 0)",
    ),
    "a job may wait for itself": (
        "if other == jid then",
        "if false then",
    ),
    "the log hears of a lost lock before those who follow the job": (
        "  Events.if_tracked('stalled', jid)\n  Events.lock_lost(jid, job.worker)",
        "  Events.lock_lost(jid, job.worker)\n  Events.if_tracked('stalled', jid)",
    ),
    "a child of a recurring job is of the moment of the pop": (
        "'time', Json.time(child.when)",
        "'time', Json.time(now)",
    ),
}


@pytest.fixture(scope="module")
def server():
    """Run one server: where the fault is planted does not matter."""
    with EmbeddedServer() as server:
        yield server


@pytest.mark.parametrize("fault", FAULTS)
def test_the_machine_finds_planted_faults(redis, script, fault):
    piece, planted = FAULTS[fault]
    assert piece in script.source
    broken = SimpleNamespace(source=script.source.replace(piece, planted))

    with pytest.raises(AssertionError):
        run(QueueMachine, redis, broken, examples=400, phases=[Phase.generate])
