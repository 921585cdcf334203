"""The documentation of the core is true: it runs, and it leaves nothing out."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest

import qless_core
from qless_core import cli
from qless_core.config import Config
from qless_core.failures import Failures
from qless_core.jobs import Jobs
from qless_core.options import OPTIONS
from qless_core.queue import Queue, QueueJobs, Queues
from qless_core.records import QueueStats
from qless_core.script import Script
from qless_core.tags import Tags
from qless_core.worker_registry import Workers
from tests.support.polling import eventually

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL
    )


def words(page):
    return set(re.findall(r"\w+(?:-\w+)*", (DOCS / page).read_text()))


def test_the_tutorial_runs(server, redis, tmp_path, monkeypatch):  # noqa: ARG001 - it empties the server
    monkeypatch.setenv("REDIS_URL", server.url)
    monkeypatch.syspath_prepend(tmp_path)
    (module,) = blocks("tutorial/first-queue.md", "python")
    (tmp_path / "shop_jobs.py").write_text(module)
    session = "\n".join(blocks("tutorial/first-queue.md", "pycon"))
    examples = doctest.DocTestParser().get_doctest(session, {}, "tutorial", None, 0)

    result = doctest.DocTestRunner().run(examples, out=sys.stderr.write)

    assert (result.failed, result.attempted > 20) == (0, True)


def test_the_tests_of_the_how_to_pass(tmp_path):
    (jobs,) = blocks("tutorial/first-queue.md", "python")
    (tmp_path / "shop_jobs.py").write_text(jobs)
    files = blocks("how-to/unit-test-jobs.md", "python")
    for text in files:
        (tmp_path / re.match(r"# (\w+\.py)\n", text)[1]).write_text(text)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(files) == 4
    assert re.search(r"^4 passed", done.stdout, re.MULTILINE), done.stdout


SCRIPT_PAGE = "how-to/use-our-script-from-another-language.md"


@pytest.mark.skipif(not shutil.which("redis-cli"), reason="redis-cli is not installed")
def test_the_script_is_called_from_a_shell_as_documented(client, server, tmp_path):
    (text,) = [each for each in blocks(SCRIPT_PAGE, "sh") if "redis-cli" in each]
    theirs = shutil.which("redis-cli")
    for name, program in (
        ("redis-cli", f"'{theirs}' -s '{server.url.removeprefix('unix://')}'"),
        ("python", f"'{sys.executable}'"),
    ):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (tmp_path / name).chmod(0o755)

    done = subprocess.run(
        ["sh", "-eu", "-c", text],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert (said[0], said[2]) == ("job-1", "complete")
    assert client.jobs["job-1"].state == "complete"


def test_the_script_is_called_from_a_program_as_documented(client, server, tmp_path, monkeypatch):
    (text,) = blocks(SCRIPT_PAGE, "python")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qless.lua").write_text(Script("ql:").source)
    theirs = "redis.Redis(decode_responses=True)"
    assert theirs in text
    names = {"server_url": server.url}

    exec(text.replace(theirs, "redis.Redis.from_url(server_url, decode_responses=True)"), names)  # noqa: S102 - our own page

    assert client.jobs["job-2"].state == "complete"
    client.redis.script_flush()
    names["call"]("put", "me", "mail", "job-3", "app.Mail", "{}", 0)
    assert "job-3" in client.jobs
    names["server"].close()


def test_with_a_tag_the_script_takes_the_one_key_that_is_documented(redis):
    (call,) = re.findall(r"`EVALSHA <sha> (1 .*?) <command>", (DOCS / SCRIPT_PAGE).read_text())
    sha = redis.script_load(Script("{ql}:").source)

    count, key = call.replace("'", "").split()
    redis.evalsha(sha, count, key, "put", "auto", "me", "mail", "j", "app.Mail", "{}", 0)

    assert all(name.startswith("{ql}:") for name in redis.scan_iter())


def test_the_loop_of_the_how_to_works_jobs(client, monkeypatch):
    """It goes on for ever; here until somebody stops it."""
    (text,) = [each for each in blocks("how-to/write-a-job.md", "python") if "reserver" in each]
    queue = client.queues["billing"]
    good = queue.put("shop_jobs.Good", {})
    bad = queue.put("shop_jobs.Bad", {})
    names = {"client": client}
    monkeypatch.setitem(sys.modules, "shop_jobs", ModuleType("shop_jobs"))
    sys.modules["shop_jobs"].Good = lambda job: None  # noqa: ARG005 - called with it
    sys.modules["shop_jobs"].Bad = lambda job: job["missing"]
    at_work = Thread(target=exec, args=(text, names))
    at_work.start()

    # Both were put at one moment, so either may be the first.
    eventually(lambda: client.failures.groups and client.jobs[good].state == "complete")
    names["jobs"].stop()
    at_work.join(30)

    assert not at_work.is_alive()
    assert client.jobs[good].state == "complete"
    assert client.jobs[bad].failure.group == "billing-KeyError"


def public_names(kind):
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith(("_", "from_"))}


@pytest.mark.parametrize(
    "kind",
    [
        qless_core.Client,
        qless_core.Clock,
        qless_core.Job,
        qless_core.RecurringJob,
        qless_core.SerialWorker,
        Queue,
        QueueJobs,
        Queues,
        QueueStats,
        Jobs,
        Failures,
        Tags,
        Workers,
    ],
)
def test_every_public_name_is_in_the_reference(kind):
    assert public_names(kind) - words("reference/python-api.md") == set()


def test_what_the_package_exports_is_in_the_reference():
    known = words("reference/python-api.md") | words("reference/errors.md")

    assert set(qless_core.__all__) - known == set()
    assert {name for name in vars(Config) if not name.startswith("_")} - known <= {"clear"}


def test_every_option_is_in_the_reference_with_its_default_and_unit():
    rows = dict(
        re.findall(
            r"^\| `([^`]+)` \| (.*?) \|", (DOCS / "reference/options.md").read_text(), re.MULTILINE
        )
    )

    assert [*rows] == [option.name for option in OPTIONS]
    for option in OPTIONS:
        shown = rows[option.name].strip("`")
        assert shown == ("none" if option.default is None else str(option.default))


def test_every_command_of_the_command_line_is_in_the_reference(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = set(re.findall(r"^    (\w+)  ", capsys.readouterr().out, re.MULTILINE))

    rows = re.findall(r"^\| `(\w+)", (DOCS / "reference/qless-cli.md").read_text(), re.MULTILINE)

    assert {"put", "work", "lua"} <= commands
    assert commands - set(rows) == set()


def benchmark_commands():
    """Find how the docs and the benchmarks themselves say that one is run."""
    pages = [*DOCS.rglob("*.md"), *(ROOT / "benchmarks").glob("*.py")]
    command = re.compile(r"[^\s(`]*python\S* (?:-m benchmarks\.|benchmarks/)[\w./]+")
    return sorted({found for page in pages for found in command.findall(page.read_text())})


@pytest.mark.parametrize("command", benchmark_commands())
def test_a_benchmark_runs_as_it_is_documented(command):
    python, *words = command.split()

    done = subprocess.run(
        [sys.executable, *words, "--help"], cwd=ROOT, capture_output=True, check=False
    )

    assert python == ".venv/bin/python"
    assert (done.returncode, done.stdout[:6]) == (0, b"usage:"), done.stderr.decode()


def test_every_benchmark_says_how_it_is_run():
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}

    assert len(scripts) > 5
    assert {command.rpartition(".")[2] for command in benchmark_commands()} == scripts


def test_what_is_the_same_as_in_ruby_needs_no_parentheses_here(client):
    rows = (DOCS / "how-to/move-from-ruby.md").read_text().splitlines()
    same = [row for row in rows if row.endswith("| the same |")]
    named = [path for row in same for path in re.findall(r"`client\.([\w.]+)`", row)]

    assert len(same) > 5
    assert [path for path in named if callable(attrgetter(path)(client))] == []


def test_every_address_in_an_example_may_be_copied():
    code = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    codes = [(page.name, found) for page in pages for found in code.findall(page.read_text())]

    cut = [
        (page, address)
        for page, found in codes
        for address in re.findall(r"https?://[\w.-]+/[^\s\"'`]*…", found)
    ]

    assert len(codes) > 1000
    assert cut == []
