"""`qless-worker`, as people start it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qless_core.client import Client
from tests.support.polling import PATIENCE_S, eventually
from tests.support.processes import children_of

ROOT = Path(__file__).parents[2]
JOBS = "tests.worker.worker_program"
SETTINGS = {
    "REDIS_URL",
    "QUEUES",
    "QUEUE",
    "JOB_RESERVER",
    "VERBOSE",
    "VVERBOSE",
    "RUN_AS_SINGLE_PROCESS",
}
KINDS = ("forking", "serial", "thread", "greenlet")
AS_PROCESS_1 = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


class Command:
    """`qless-worker` with arguments, in a process of its own."""

    def __init__(self, program):
        self.program = program
        self.url = program.url

    def line(self, *arguments):
        return [sys.executable, "-m", "qless_core.worker_command", *arguments]

    def environment(self, **settings):
        bare = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        return {**bare, "REDIS_URL": self.url, **settings}

    def run(self, *arguments, **settings):
        return subprocess.run(
            self.line(*arguments),
            cwd=ROOT,
            env=self.environment(**settings),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def start(self, *arguments, **settings):
        log = self.program.folder / f"log{len(self.program.started)}"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [*self.program.wrapped, *self.line(*arguments)],
                cwd=ROOT,
                env=self.environment(**settings),
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        process.log = log
        self.program.process = process
        self.program.started.append(process)
        return process


@pytest.fixture
def command(program):
    return Command(program)


@pytest.mark.parametrize("kind", KINDS)
def test_a_burst_ends_when_all_is_done(command, program, kind):
    jids = [program.put("quick", queue=queue) for queue in ("one", "two")]

    done = command.run("-q", "one", "-q", "two", "--kind", kind, "--burst")

    assert done.returncode == 0, done.stderr
    assert [program.client.jobs[jid].state for jid in jids] == ["complete", "complete"]


def test_several_addresses_are_shards_each_worked(command, program):
    names = ("one", "two")
    shards = [Client(program.url, namespace=f"{name}:") for name in names]
    program.folder.joinpath("traces").touch()
    for shard in shards:
        shard.queues["q"].put(f"{JOBS}.quick", {"file": str(program.file)})
    addresses = [f"--redis-url={name}={program.url}?namespace={name}:" for name in names]

    done = command.run("-q", "q", *addresses, "--burst")

    assert done.returncode == 0, done.stderr
    assert [len(shard.jobs.complete()) for shard in shards] == [1, 1]
    assert len({pid for _, _, pid in program.traces("ran")}) == 2


def test_of_several_addresses_each_needs_a_name(command, program):
    done = command.run("-q", "q", "--redis-url", program.url, "--redis-url", f"two={program.url}")

    assert (done.returncode, "each needs a name" in done.stderr) == (2, True)


def test_what_a_shell_says_is_taken_from_the_environment(command, program):
    jids = [program.put("quick", queue=queue) for queue in ("one", "two")]

    done = command.run("--burst", QUEUES="one, two", RUN_AS_SINGLE_PROCESS="1", VERBOSE="1")

    assert done.returncode == 0, done.stderr
    assert "SerialWorker" in done.stderr
    assert all(jid in done.stderr for jid in jids)


def test_a_single_process_runs_one_job_at_a_time_whatever_the_environment_says(command, program):
    jid = program.put("quick")
    single = {"RUN_AS_SINGLE_PROCESS": "1", "CONCURRENCY": "4"}

    done = command.run("-q", "q", "--burst", **single)
    refused = command.run("-q", "q", "--concurrency", "4", **single)

    assert done.returncode == 0, done.stderr
    assert "CONCURRENCY=4 is passed over" in done.stderr
    assert program.state(jid) == "complete"
    assert refused.returncode == 2
    assert "RUN_AS_SINGLE_PROCESS" in refused.stderr


def test_a_queue_that_has_a_comma_in_its_name_is_worked(command, program):
    jid = program.put("quick", queue="one,two")

    done = command.run("-q", "one[,]two", "--burst")

    assert done.returncode == 0, done.stderr
    assert program.state(jid) == "complete"


def test_queues_of_the_environment_are_those_of_who_names_none(command, program):
    named, other = [program.put("quick", queue=queue) for queue in ("one", "two")]

    done = command.run("-q", "one", "--burst", QUEUES="two")

    assert done.returncode == 0, done.stderr
    assert (program.state(named), program.state(other)) == ("complete", "waiting")


@pytest.mark.parametrize("name", ["Ordered", "RoundRobin", "ShuffledRoundRobin"])
@pytest.mark.parametrize("arguments", [(), ("--order", "shuffled"), ("--weight", "q=2")])
def test_an_order_of_the_environment_is_one_of_those_there_are(command, name, arguments):
    done = command.run("-q", "q", "--burst", *arguments, JOB_RESERVER=name)

    assert done.returncode == 0, done.stderr


def test_an_order_that_there_is_not_is_refused(command):
    done = command.run("-q", "q", "--burst", JOB_RESERVER="PriorityReserver")

    assert done.returncode == 2
    assert "JOB_RESERVER must be Ordered, RoundRobin or ShuffledRoundRobin" in done.stderr
    assert "PriorityReserver" in done.stderr


def test_weights_and_another_order_are_refused(command):
    done = command.run("-q", "q", "--burst", "--weight", "q=2", "--order", "ordered")

    assert done.returncode == 2
    assert "--order: not allowed with argument --weight" in done.stderr


def test_an_application_is_imported_and_begun_first(command, program, tmp_path):
    (tmp_path / "the_app.py").write_text(
        "import os\nready = []\n"
        "def begin():\n    ready.append(os.getpid())\n"
        "def job(job):\n    job['ready'] = len(ready)\n"
    )
    jid = program.client.queues["q"].put("the_app.job", {})

    done = command.run("-q", "q", "--burst", "--path", str(tmp_path), "--app", "the_app:begin")

    assert done.returncode == 0, done.stderr
    assert program.client.jobs[jid].data == {"ready": 1}


@pytest.mark.parametrize("line", [("qless_core", "work"), ("qless_core.worker_command",)])
def test_job_classes_are_imported_from_the_working_directory(program, tmp_path, line):
    (tmp_path / "the_jobs.py").write_text("def job(job):\n    pass\n")
    jid = program.client.queues["q"].put("the_jobs.job", {})
    # As the commands that are installed begin, which know no working directory.
    with subprocess.Popen(
        [sys.executable, "-P", "-m", *line, "-q", "q"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "REDIS_URL": program.url},
    ) as process:
        eventually(lambda: program.state(jid) == "complete")
        process.send_signal(signal.SIGTERM)

    assert process.returncode == 0


def test_a_worker_is_told_alive_while_it_is(command):
    nobody = command.run("--check")
    worker = command.start("-q", "q", "--concurrency", "2")
    eventually(lambda: command.run("--check").returncode == 0)
    found = command.run("--check")
    worker.send_signal(signal.SIGTERM)
    worker.wait(PATIENCE_S)
    gone = command.run("--check")

    assert (nobody.returncode, found.returncode, gone.returncode) == (1, 0, 1)
    assert "no sign of life" in nobody.stdout
    assert re.search(r": running, seen \d+ s ago", found.stdout)
    assert worker.returncode == 0


def test_a_worker_whose_children_die_before_they_work_is_not_told_alive(command, tmp_path):
    gate = tmp_path / "gate"
    (tmp_path / "the_app.py").write_text(
        "import pathlib\ndef begin():\n"
        f"    if not pathlib.Path({str(gate)!r}).exists():\n        raise RuntimeError\n"
    )
    command.start("-q", "q", "--path", str(tmp_path), "--on-fork", "the_app.begin")

    failing = eventually(
        lambda: (found := command.run("--check")).stdout.find("failing") > 0 and found
    )
    gate.touch()
    eventually(lambda: command.run("--check").returncode == 0)

    assert failing.returncode == 1
    assert "its children die before they work" in failing.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "which queues?"),
        (("-q", "one,two"), "Say -q one -q two, or -q 'one[,]two'"),
        (("-q", ""), "the name of a queue must be text of UTF-8, and not empty, got ''"),
        (("-q", b"\xff"), "must be text of UTF-8, and not empty, got '\\udcff'"),
        (tuple(f"-qq{number}" for number in range(1001)), "at most 1000 queues, got 1001"),
        (("-q", "q", "--grace", "inf"), "grace must be seconds from 0 to"),
        (("-q", "q", "--grace", "1e11"), "grace must be seconds from 0 to"),
        (("-q", "q", "--interval", "inf"), "interval must be seconds above 0"),
        (("-q", "q", "--app", "tests.worker.worker_program.note"), "worker_program:note"),
        (("-q", "q", "--app", "no_such_app.setup"), "modules are looked for in '"),
        (("-q", "q", "--app", "tests.worker.broken_module"), "'no_such_module_anywhere' needs it"),
        (("-q", "q", "--app", "no_such_app"), "no_such_app cannot be imported"),
        (("-q", "q", "--app", "json:nothing"), "json.nothing cannot be imported"),
        (("-q", "q", "--middleware", "nothing"), "nothing cannot be imported"),
        (("-q", "q", "--kind", "serial", "--concurrency", "2"), "one job at a time"),
        (("-q", "q", "--kind", "thread", "--jobs-per-child", "1"), "--jobs-per-child is for"),
        (("-q", "q", "--concurrency", "0"), "concurrency must be from 1 up"),
        (("-q", "q", "--prefetch", "0"), "prefetch must be from 1"),
        (("-q", "q", "--weight", "q=0"), "must be a number above 0"),
        (("-q", "a", "-q", "m-*", "--weight", "b=2"), "no queue 'b' is worked, as --weight says"),
        (("-q", "m-*", "--weight", "m-*=2"), "--weight is of one queue, not of a pattern"),
        (("-q", "q", "--redis-url", "ftp://:secret@127.0.0.1:1/0", "--check"), "127.0.0.1:1"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_line(command, arguments, said):
    done = command.run(*arguments)

    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_redis_that_cannot_be_reached_is_no_fault_of_the_command_line(command):
    done = command.run("-q", "q", "--redis-url", "redis://:secret@127.0.0.1:1/0", "--check")

    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr
    assert "secret" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_weight_of_a_queue_that_fits_a_pattern_is_taken(command):
    done = command.run(
        "-q", "m-*", "-q", "a[,]b", "--burst", "--weight", "m-1=2", "--weight", "a,b=3"
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("settings", [{"CONCURRENCY": "many"}, {"INTERVAL": "soon"}])
def test_a_number_of_the_environment_must_be_one(command, settings):
    done = command.run("-q", "q", **settings)

    assert done.returncode == 2
    assert f"{next(iter(settings))} must be a number" in done.stderr


def test_term_before_there_is_anything_ends_it_quietly(command, program, tmp_path):
    (tmp_path / "slow_app.py").write_text(
        "import pathlib, threading\n"
        f"pathlib.Path({str(tmp_path / 'begun')!r}).touch()\nthreading.Event().wait(600)\n"
    )
    worker = command.start("-q", "q", "--path", str(tmp_path), "--app", "slow_app")
    eventually((tmp_path / "begun").exists)

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(PATIENCE_S) == 0
    assert "Traceback" not in program.said


#: An application that has TERM sent at the very moment at which the worker begins to listen.
WHEN_IT_LISTENS = """
import os, signal
real = signal.set_wakeup_fd
def told_meanwhile(*args, **options):
    if args != (-1,):
        os.kill(os.getpid(), signal.SIGTERM)
    return real(*args, **options)
signal.set_wakeup_fd = told_meanwhile
"""


@pytest.mark.parametrize("kind", KINDS)
def test_b60_term_between_two_who_listen_is_heard(command, program, tmp_path, kind):
    (tmp_path / "the_app.py").write_text(WHEN_IT_LISTENS)
    jid = program.put("wait")

    worker = command.start("-q", "q", "--kind", kind, "--path", str(tmp_path), "--app", "the_app")

    assert worker.wait(PATIENCE_S) == 0
    assert program.state(jid) == "waiting"


#: A program that is sent a signal when it imports what takes long.
AS_IT_IMPORTS = """
import os, sys
class Sends:
    def find_spec(self, name, *_):
        if name == "redis":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Sends())
"""


def as_it_imports(folder, number):
    """Have the next worker sent a signal as it imports; answers what its environment has then."""
    (folder / "sitecustomize.py").write_text(AS_IT_IMPORTS.format(number=int(number)))
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize("wrapped", [(), AS_PROCESS_1] if os.geteuid() == 0 else [()])
def test_b60_a_signal_that_ends_it_is_heard_as_it_imports(
    command, program, tmp_path, number, wrapped
):
    program.wrapped = wrapped
    jid = program.put("wait")

    worker = command.start("-q", "q", **as_it_imports(tmp_path, number))

    assert worker.wait(PATIENCE_S) == 0
    assert program.said == ""
    assert program.state(jid) == "waiting"


@pytest.mark.parametrize("wrapped", [(), AS_PROCESS_1] if os.geteuid() == 0 else [()])
@pytest.mark.parametrize("kind", KINDS)
def test_usr2_before_it_listens_pauses_it_once_it_does(command, program, tmp_path, kind, wrapped):
    program.wrapped = wrapped
    jid = program.put("quick")

    worker = command.start(
        "-q", "q", "--kind", kind, "-v", **as_it_imports(tmp_path, signal.SIGUSR2)
    )
    eventually(lambda: "takes no jobs for the time being" in program.said)
    (inner,) = children_of(worker.pid) if wrapped else (worker.pid,)
    os.kill(inner, signal.SIGCONT)

    eventually(lambda: program.state(jid) == "complete")
    os.kill(inner, signal.SIGTERM)
    assert worker.wait(PATIENCE_S) == 0


def test_usr1_before_it_listens_stops_nothing(command, program, tmp_path):
    jid = program.put("quick")

    done = command.run("-q", "q", "--burst", **as_it_imports(tmp_path, signal.SIGUSR1))

    assert done.returncode == 0, done.stderr
    assert program.state(jid) == "complete"


def test_b60_term_while_greenlets_are_made_ready_is_heard(command, program, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "if 'patch_all' in ' '.join(sys.orig_argv):\n    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    jid = program.put("wait")

    worker = command.start("-q", "q", "--kind", "greenlet", PYTHONPATH=str(tmp_path))

    assert worker.wait(PATIENCE_S) == 0
    assert program.state(jid) == "waiting"


def test_b60_signals_that_whoever_started_it_blocked_are_heard(command, program):
    blocks = "import os, signal, sys; "
    blocks += "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); "
    blocks += "os.execv(sys.argv[1], sys.argv[1:])"
    program.wrapped = (sys.executable, "-c", blocks)
    program.put("wait")
    worker = command.start("-q", "q")
    program.begun()

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(PATIENCE_S) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a namespace of processes")
@pytest.mark.parametrize("kind", KINDS)
def test_b60_as_process_1_it_ends_on_term_while_it_starts(command, program, tmp_path, kind):
    (tmp_path / "slow_app.py").write_text(
        "import pathlib, threading\n"
        f"pathlib.Path({str(tmp_path / 'begun')!r}).touch()\nthreading.Event().wait(600)\n"
    )
    program.wrapped = AS_PROCESS_1
    worker = command.start("-q", "q", "--kind", kind, "--path", str(tmp_path), "--app", "slow_app")
    eventually((tmp_path / "begun").exists)
    (inner,) = children_of(worker.pid)

    os.kill(inner, signal.SIGTERM)

    assert worker.wait(PATIENCE_S) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a namespace of processes")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize("kind", KINDS)
def test_b60_as_process_1_it_ends_on_a_signal_while_it_waits(command, program, kind, number):
    program.wrapped = AS_PROCESS_1
    worker = command.start("-q", "q", "--kind", kind, "--name", "w")
    program.at_work()
    (inner,) = children_of(worker.pid)

    os.kill(inner, number)

    assert worker.wait(PATIENCE_S) == 0
    assert program.client.workers.counts == []


def test_every_option_is_in_the_reference(command):
    reference = (ROOT / "docs/reference/qless-worker.md").read_text("utf-8")
    options = set(re.findall(r"--[a-z-]+[a-z]", command.run("--help").stdout)) - {"--help"}

    assert len(options) > 15
    assert {option for option in options if f"`{option}`" not in reference} == set()
