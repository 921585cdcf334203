"""The page on middleware is true: its examples run."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

from qless_core.testing import make_job
from qless_core.worker import middleware
from qless_core.worker.interrupt import interrupt
from qless_core.worker.middleware import Requeue, TryAgain, WorkerStopping
from qless_core.worker.performing import attempt
from qless_core.worker.serial import SerialWorker
from tests.support.polling import PATIENCE_S

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to/write-a-middleware.md").read_text()


@pytest.fixture
def examples(monkeypatch):
    """Run the examples as one module that jobs can name."""
    module = types.ModuleType("middleware_page")
    monkeypatch.setitem(sys.modules, "middleware_page", module)
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(block, vars(module))  # noqa: S102 - that is the point
    return module


def run(client, name, data, *around):
    jid = client.queues["q"].put(f"middleware_page.{name}", data)
    SerialWorker(client, ["q"], middleware=around).step()
    return client.jobs[jid]


def test_its_jobs_run(client, examples):
    for name, data in {
        "Charge": {"amount": 1},
        "Reindex": {},
        "export": {},
        "import_rows": {"rows": [1, 2]},
        "convert": {"seconds": "0"},
    }.items():
        assert run(client, name, data, examples.timed, examples.careful).state == "complete"
        assert examples.took[f"middleware_page.{name}"] > 0


@pytest.mark.parametrize(
    ("error", "found"), [(PermissionError(), TryAgain), (FileNotFoundError(), Requeue)]
)
def test_its_middleware_decides(examples, error, found):
    with pytest.raises(found), examples.careful(make_job("x")):
        raise error


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize("in_main", [True, False])
def test_a_process_of_its_job_is_killed_as_it_is_stopped(in_main, monkeypatch):
    results, begun, wait = [], threading.Event(), subprocess.Popen.wait
    job = make_job("middleware_page.convert", {"seconds": "600"})
    monkeypatch.setattr(subprocess.Popen, "wait", lambda self: begun.set() or wait(self))

    def stop():
        begun.wait(PATIENCE_S)
        interrupt(WorkerStopping())

    calls = [lambda: results.append(attempt(job)), stop]
    thread = threading.Thread(target=calls[in_main])
    thread.start()
    calls[not in_main]()
    thread.join(PATIENCE_S)

    assert isinstance(results[0], WorkerStopping)


def test_its_handler_says_of_which_job_a_line_is(examples):
    record = logging.LogRecord("x", logging.INFO, "", 0, "text", (), None)

    assert examples.handler.filter(record)
    assert examples.handler.format(record).endswith("[  ] text")


def test_every_name_is_in_the_how_to_or_the_reference():
    text = PAGE + (DOCS / "reference/python-api.md").read_text()

    assert [name for name in middleware.__all__ if not re.search(rf"\b{name}\b", text)] == []
