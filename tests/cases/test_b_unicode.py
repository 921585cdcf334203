"""Section B of the field cases: bytes and characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from qless_core.client import Client
from tests.support.polling import eventually

ROOT = Path(__file__).parents[2]


def test_b12_a_worker_in_a_world_of_ascii_records_what_utf8_cannot_hold(server, redis, tmp_path):
    (tmp_path / "odd_jobs.py").write_text(
        "import os\n"
        "def fail(job):\n    raise Exception('a' + os.fsdecode(b'\\xff') + 'b \\u6f22')\n"
        "def work(job):\n    pass\n",
        "utf-8",
    )
    environment = {**os.environ, "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "qless_core", "--redis-url", server.url, "work", "-q", "q"]
    with Client(server.url) as client:
        failing = client.queues["q"].put("odd_jobs.fail", {"漢": "字"}, priority=9)
        fine = client.queues["q"].put("odd_jobs.work", {})
        with subprocess.Popen(
            [*command, "--path", str(tmp_path), "--interval", "0.05"],
            cwd=ROOT,
            env=environment,
            stderr=subprocess.PIPE,
        ) as process:
            eventually(lambda: redis.hget(f"ql:j:{fine}", "state") == "complete")
            process.terminate()
            _, said = process.communicate(timeout=20)

        job = client.jobs[failing]
        assert job.state == "failed"
        assert job.failure.group == "q-Exception"
        assert "a\ufffdb 漢" in job.failure.message
        assert process.returncode == 0
        assert b"Logging error" not in said
