"""What the machine found, by the shortest way to it."""

from __future__ import annotations

import pytest

from tests.model.machine import QueueMachine


@pytest.fixture
def machine(redis, script):
    """Drive the machine by hand: each step is compared with the model."""

    class Machine(QueueMachine):
        pass

    Machine.redis, Machine.script = redis, script
    machine = Machine()
    yield machine
    machine.teardown()


def test_a_dependency_named_like_the_history_of_the_job_itself_is_none(machine):
    machine.step("put", "w", "q", "a", "K", "{}", 0, "depends", '["a-history"]')

    assert machine.model.jobs["a"].state == "waiting"
