"""What the queue promises, row by row: each is named in the test that would miss it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]

#: Row -> what it promises, in short. A test names its rows in its name or its docstring.
ROWS = {
    "Q1": "no job is dropped: locks, heartbeats, grace, another worker, retries, failure",
    "Q2": "the verbs of a job; it is in one queue at a time",
    "Q3": "what a job knows of itself",
    "Q4": "options of a put; over a jid that is there it replaces, or yields on request",
    "Q5": "priorities, and first in, first out among equals",
    "Q6": "jobs for later, by delay or for a moment",
    "Q7": "recurring jobs, by interval and by cron expression; said again at every start",
    "Q8": "dependencies, also later, and no rings",
    "Q9": "tags and tracking",
    "Q10": "events, heard on a connection of its own",
    "Q11": "figures by queue and day",
    "Q12": "options; a heartbeat by job, by queue, for all",
    "Q13": "queues are paused, with the running jobs stopped on request, and forgotten",
    "Q14": "all jobs of a queue as one iterator; work on many",
    "Q15": "limits: by queue, throttles, by class and time, by host, hosts that fail",
    "Q16": "errors are raised, each of its own class",
    "Q17": "an idle worker starts a job at once, over many queues, without polling hard",
    "Q18": "the server's time, so that clocks which differ are harmless",
    "Q19": "jobs are tested without Redis",
    "Q20": "options by job class, as a function of the data",
    "Q21": "tidy reprs, and every kind of Redis",
    "Q22": "completed jobs are archived before they expire",
    "Q23": "dropped jobs wait, as an option says",
    "Q24": "an audit of the whole database, and repairs",
}
ROW = re.compile(r"(?<![A-Za-z0-9])[qQ](\d+)(?![A-Za-z0-9])")


def named():
    """Find the rows that names and docstrings of tests name."""
    rows = set()
    for path in TESTS.rglob("test_*.py"):
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                said = f"{node.name} {ast.get_docstring(node) or ''}"
                rows |= {f"Q{number}" for number in ROW.findall(said)}
    return rows


def test_each_promise_is_named_in_a_test():
    assert named() >= ROWS.keys()


def test_no_test_names_a_promise_that_there_is_none_of():
    assert named() <= ROWS.keys()
