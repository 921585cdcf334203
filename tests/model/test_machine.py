"""Whatever is called in whatever order: the script does what the model does."""

from __future__ import annotations

from tests.model.machine import QueueMachine, run


def test_the_script_does_what_the_model_does(redis, script):
    run(QueueMachine, redis, script, examples=100)
