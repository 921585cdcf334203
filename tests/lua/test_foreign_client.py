"""A client of another project works with our script in place of its own, on the same data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOREIGN = Path(__file__).parent / "foreign_client.py"


@pytest.fixture
def seen(server, lua, script):
    """Let the foreign client do all that it can, and answer what it saw."""
    lua("config.set", 1, "jobs-history", 1_000_000_000_000)
    program = [sys.executable, "-W", "ignore", FOREIGN, server.url]
    done = subprocess.run(program, input=script.source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_foreign_client_does_its_whole_work(seen, lua):
    assert seen == {
        "put": "a",
        "counts": {
            "name": "mail",
            "waiting": 1,
            "running": 0,
            "stalled": 0,
            "scheduled": 1,
            "depends": 1,
            "recurring": 0,
            "paused": False,
        },
        "peek": "a",
        "pop": ["a", "running", "foreign", {"to": [], "n": 1}, ["x"], ["b"]],
        "heartbeat": True,
        "complete": "depends",
        "undepend": 1,
        "finish": "complete",
        "completed": ["a"],
        "unblocked": "b",
        "fail": "b",
        "failed": [{"group": 1}, 1],
        "failure": "it broke",
        "unfail": 1,
        "retry": 4,
        "lost": True,
        "tag": ["y", "z"],
        "untag": ["y"],
        "tagged": {"total": 1, "jobs": ["b"]},
        "priority": 5,
        "tracked": ["b"],
        "child": ["tick-1", {"every": []}, ["t", "u"]],
        "uncurred": None,
        "paused": [True, None],
        "moved": "later",
        "canceled": ["later"],
        "workers": ["foreign"],
        "worker": ["b"],
        "queues": ["mail", "print"],
        "waits": 5,
        "config": [90, 10],
        "tags": ["t", "u"],
    }
    assert lua.job("a")["data"] == '{"to": [], "n": 2}'
