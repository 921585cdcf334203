"""How fast workers run jobs that do nothing, how soon one starts, and what it costs to be idle.

    .venv/bin/python -m benchmarks.workers --venv FOLDER [--jobs N] [--samples N] …

Ours beside what else there is for Python, each a worker in one process as its own command starts
it, all on one server, in turns within each round, so that whatever else the machine does falls on
all. The rivals are installed into environments below FOLDER, once; what cannot be installed, or
does not start, is named and left out.

Jobs a second: from the moment that the first of many waiting jobs ran to that of the last; and the
microseconds of processor that the worker (with its children) and the server used for each, which
say more where the machine has other things to do. Put to start: the worker is idle; beside it,
sample by sample, a plain loop of BRPOP is asked the same. Idle: the processor that the worker uses
while there is nothing to do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from redis import Redis

from benchmarks.others.environments import environments
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from tests.support.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

ROOT = Path(__file__).parents[1]
#: Seconds for a worker to start, or to run one job.
PATIENCE_S = 20.0
#: Seconds for a worker to leave when asked.
LEAVE_S = 3.0
#: The most seconds that many jobs, or many samples, of one contender are waited for.
LIMIT_S = 60.0
#: Seconds between two samples, so that the worker is idle again.
PAUSE_S = 0.01
#: Samples that do not count.
WARM_UP = 10
#: Seconds after which a worker that has nothing to do is taken for idle.
SETTLE_S = 2.0
#: Bytes of a mark.
MARK = 8

clock = Clock()


@dataclass(frozen=True)
class Contender:
    """A way to run jobs.

    Attributes:
        name: what it is called in the table.
        module: of those in `benchmarks/others`, the one that puts its jobs.
        command: what starts its worker: a program of its environment, and arguments; or what the
            module is told, where `home` is "".
        home: the name of its environment; "" for the one that this runs in.
        share: the part of the jobs that it is given; the slow ones get fewer.

    """

    name: str
    module: str
    command: tuple[str, ...] = ()
    home: str = ""
    share: float = 1.0

    @property
    def is_ours(self) -> bool:
        """Whether it is one of our own workers."""
        return self.module == "ours"


PLAIN = Contender("a plain loop of BRPOP", "brpop", ("-m", "benchmarks.others", "work", "brpop"))

_RQ = ("rq", "worker", "--quiet", "--url", "{url}")
_OWN = ("python", "-m", "benchmarks.others", "work")

RIVALS = (
    Contender("RQ", "rq", (*_RQ, "bench"), "rq", 0.1),
    Contender(
        "RQ, SimpleWorker",
        "rq",
        (*_RQ, "--worker-class", "rq.worker.SimpleWorker", "bench"),
        "rq",
        0.3,
    ),
    Contender(
        "huey",
        "huey",
        ("huey_consumer", "benchmarks.others.huey.huey", "-w", "1", "-q"),
        "huey",
    ),
    Contender(
        "dramatiq, 8 threads",
        "dramatiq",
        ("dramatiq", "benchmarks.others.dramatiq", "-p", "1"),
        "dramatiq",
    ),
    Contender("saq", "saq", ("saq", "benchmarks.others.saq.settings", "--quiet"), "saq"),
    Contender(
        "celery, 1 child",
        "celery",
        ("celery", "-A", "benchmarks.others.celery", "worker", "-c", "1", "-l", "WARNING"),
        "celery",
    ),
    Contender(
        "celery, solo",
        "celery",
        ("celery", "-A", "benchmarks.others.celery", "worker", "-P", "solo", "-l", "WARNING"),
        "celery",
    ),
    Contender("arq", "arq", ("arq", "benchmarks.others.arq.WorkerSettings"), "arq", 0.2),
    Contender(
        "taskiq",
        "taskiq",
        (
            "taskiq",
            "worker",
            "-w",
            "1",
            "--log-level",
            "WARNING",
            "benchmarks.others.taskiq:broker",
        ),
        "taskiq",
    ),
    Contender("bullmq, 1 at once", "bullmq", (*_OWN, "bullmq", "1"), "bullmq"),
    Contender("bullmq, 10 at once", "bullmq", (*_OWN, "bullmq", "10"), "bullmq"),
)

OURS = tuple(
    Contender(f"ours, {name}", "ours", ("-m", "benchmarks.others", "work", "ours", how))
    for name, how in (
        ("one at a time", "serial"),
        ("prefetch", "prefetch"),
        ("a child", "forking"),
        ("a child a job", "fresh"),
        ("8 threads", "threads"),
    )
)


class Broken(Exception):  # noqa: N818 - it says what the contender is
    """Raised when a worker does not run, with its last words."""


class Stage:
    """Where a contender is at work: what puts its jobs, its worker, and the file of the marks.

    Args:
        contender: who.
        bins: the folder of its programs.
        url: of the server.
        folder: where its files go.

    """

    def __init__(self, contender: Contender, bins: Path, url: str, folder: Path) -> None:
        self.contender = contender
        self._bins = bins
        self._url = url
        self._marks = folder / "marks"
        self._words = folder / "words"
        self._marks.touch()
        self._seen = 0
        self._worker: subprocess.Popen[bytes] | None = None
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "REDIS_URL": url,
            "MARKS": str(self._marks),
        }
        self._putter = subprocess.Popen(  # noqa: S603 - ours
            [self._python, "-m", "benchmarks.others", "put", contender.module],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words.open("ab"),
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._putter.kill()
        self._putter.communicate()
        if self._worker is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._worker.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._worker.wait(LEAVE_S)
        with suppress(ProcessLookupError):
            os.killpg(self._worker.pid, signal.SIGKILL)
        self._worker.wait()

    @property
    def _python(self) -> str:
        return str(self._bins / "python") if self.contender.home else sys.executable

    def put(self, count: int) -> float:
        """Put so many jobs; answers the moment at which that began."""
        assert self._putter.stdin  # noqa: S101 - for mypy: both are pipes
        assert self._putter.stdout  # noqa: S101 - as above
        with suppress(BrokenPipeError):
            self._putter.stdin.write(f"{count}\n")
            self._putter.stdin.flush()
            if told := self._putter.stdout.readline():
                return float(told)
        raise Broken(self.last_words())

    def start(self) -> None:
        """Start the worker."""
        program, *more = self.contender.command
        if self.contender.home:
            command = [str(self._bins / program), *(each.format(url=self._url) for each in more)]
        else:
            command = [sys.executable, program, *more]
        with self._words.open("ab") as words:
            self._worker = subprocess.Popen(  # noqa: S603 - of ours, or as installed
                command,
                cwd=self._words.parent,
                env=self._environment,
                stdout=words,
                stderr=words,
                start_new_session=True,
            )

    def ran(self) -> int:
        """Count the jobs that ran."""
        return self._marks.stat().st_size // MARK

    def moments(self) -> list[float]:
        """Give the moments at which jobs ran, in order."""
        found = memoryview(self._marks.read_bytes())
        return sorted(found[: len(found) // MARK * MARK].cast("d"))

    def wait(self, count: int, pause_s: float, limit_s: float = PATIENCE_S) -> bool:
        """Wait until so many jobs ran; answers whether they did within the limit.

        Raises:
            Broken: the worker has ended.

        """
        until = clock.monotonic() + limit_s
        while self.ran() < count:
            if self._worker is not None and self._worker.poll() is not None:
                raise Broken(self.last_words())
            if clock.monotonic() > until:
                return False
            clock.wait(pause_s)
        return True

    def took(self) -> float:
        """Put a job and answer how long after that it ran, in seconds.

        Raises:
            Broken: it never ran.

        """
        before = self.ran()
        begun = self.put(1)
        if not self.wait(before + 1, 0.002):
            raise Broken(self.last_words())
        return self.moments()[-1] - begun

    def processor_s(self) -> float:
        """Give the seconds of processor that the worker and its children have used."""
        assert self._worker  # noqa: S101 - for mypy: it was started
        ticks = 0
        for place in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                told = place.read_text().rpartition(")")[2].split()
                if int(told[3]) == self._worker.pid:  # the session
                    ticks += sum(map(int, told[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def last_words(self) -> str:
        """Give the last line that worker or putter wrote."""
        words = self._words.read_text(errors="replace").strip().splitlines()
        return words[-1] if words else "it said nothing"


@dataclass
class Found:
    """What was measured of a contender; seconds."""

    speeds: list[float] = field(default_factory=list)
    #: Of processor for each job: the worker's, and the server's.
    worker: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    #: Of the loop of BRPOP beside it.
    plain: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """Jobs a second."""
        return statistics.median(self.speeds)


class Contest:
    """All that is measured, on one server."""

    def __init__(self, told: argparse.Namespace, url: str, folder: Path) -> None:
        self._told = told
        self._url = url
        self._folder = folder
        self._redis = Redis.from_url(url)
        self.found: dict[Contender, Found] = {}
        self.left_out: dict[Contender, str] = {}

    def round(self, number: int, contenders: Sequence[Contender]) -> None:
        """Measure each of those once."""
        for contender in contenders:
            if contender in self.left_out:
                continue
            found = self.found.setdefault(contender, Found())
            try:
                self._speed(contender, found)
                if self._told.samples:
                    self._starts(contender, found)
            except Broken as words:
                self.left_out[contender] = str(words)
                del self.found[contender]
                continue
            print(f"round {number}: {contender.name}: {found.speeds[-1]:.0f} jobs/s", flush=True)

    def _stage(self, contender: Contender, stack: ExitStack) -> Stage:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        bins = Path(self._told.venv) / contender.home / "bin"
        return stack.enter_context(Stage(contender, bins.absolute(), self._url, folder))

    def _speed(self, contender: Contender, found: Found) -> None:
        self._redis.flushall()
        count = max(int(self._told.jobs * contender.share), 20)
        with ExitStack() as stack:
            stage = self._stage(contender, stack)
            stage.put(count)
            stage.start()
            if not stage.wait(1, 0.01):
                raise Broken(stage.last_words())
            worker, server, ran = stage.processor_s(), self._server_s(), stage.ran()
            stage.wait(count, 0.05, LIMIT_S)
            moments = stage.moments()
            jobs = max(len(moments) - ran, 1)
            found.worker.append((stage.processor_s() - worker) / jobs)
            found.server.append((self._server_s() - server) / jobs)
        found.speeds.append((len(moments) - 1) / (moments[-1] - moments[0]))

    def _server_s(self) -> float:
        """Give the seconds of processor that the server has used."""
        told = self._redis.info("cpu")
        return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])

    def _starts(self, contender: Contender, found: Found) -> None:
        self._redis.flushall()
        with ExitStack() as stack:
            stage = self._stage(contender, stack)
            turns = [(stage, found.starts)]
            if contender is not PLAIN:
                turns.insert(0, (self._stage(PLAIN, stack), found.plain))
            for each, _ in turns:
                each.start()
                each.took()
            found.idle.append(self._idle(stage))
            until = clock.monotonic() + LIMIT_S
            for number in range(-WARM_UP, self._told.samples):
                for each, into in turns:
                    clock.wait(PAUSE_S)
                    took = each.took()
                    if number >= 0:
                        into.append(took)
                if clock.monotonic() > until:
                    break

    def _idle(self, stage: Stage) -> float:
        clock.wait(SETTLE_S)
        before, begun = stage.processor_s(), clock.monotonic()
        clock.wait(self._told.idle)
        return (stage.processor_s() - before) / (clock.monotonic() - begun)


def at(found: Sequence[float], part: float) -> float:
    """Give the value below which such a part of all lies."""
    ordered = sorted(found)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def report(contest: Contest) -> None:
    """Print the table."""
    print(f"\n{'':24}{'jobs/s':>9}{'worker us':>11}{'server us':>11}", end="")
    print(f"{'p50 ms':>9}{'p99 ms':>9}{'p50 and p99 of BRPOP':>22}", end="")
    print(f"{'p99 ratio':>11}{'idle %':>8}")
    for contender, found in contest.found.items():
        used = (statistics.median(each) * 1e6 for each in (found.worker, found.server))
        print(f"{contender.name:24}{found.speed:>9.0f}", *map("{:>10.0f}".format, used), end="")
        if found.starts:
            middle, late = (at(found.starts, part) for part in (0.5, 0.99))
            plain, plain_late = (at(found.plain or found.starts, part) for part in (0.5, 0.99))
            print(f"{middle * 1000:>9.2f}{late * 1000:>9.2f}", end="")
            print(f"{plain * 1000:>14.2f}{plain_late * 1000:>8.2f}", end="")
            print(f"{late / plain_late:>11.2f}{statistics.median(found.idle) * 100:>8.1f}", end="")
        print()
    for contender, words in contest.left_out.items():
        print(f"{contender.name:24} left out: {words}")


def compare(contest: Contest) -> None:
    """Print what is wanted of ours beside the others."""
    named = {contender.name: found for contender, found in contest.found.items()}
    rivals = {each.name: found for each, found in contest.found.items() if each in RIVALS}
    if not rivals:
        return
    fastest = max(rivals, key=lambda name: rivals[name].speed)
    print(f"\nthe fastest rival is {fastest}")
    for ours, other, least in (
        ("ours, prefetch", fastest, 4),
        ("ours, one at a time", fastest, 1.3),
        ("ours, a child a job", "RQ", 6),
    ):
        if ours in named and other in named:
            ratio = named[ours].speed / named[other].speed
            print(f"{ours} / {other}: {ratio:.2f} (wanted: {least})")


def contenders(told: argparse.Namespace) -> tuple[list[Contender], dict[Contender, str]]:
    """List who takes part, with those that cannot be installed and why."""
    wanted = [
        each for each in (PLAIN, *RIVALS, *OURS) if any(part in each.name for part in told.only)
    ]
    homes = environments(Path(told.venv).absolute())
    problems = {name: homes[name].make() for name in sorted({e.home for e in wanted if e.home})}
    left_out = {each: problems[each.home] for each in wanted if problems.get(each.home)}
    return [each for each in wanted if each not in left_out], left_out


def main() -> None:
    """Read the arguments, measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--venv", required=True, help="where the environments of the rivals are")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=200, help="of put to start, each round")
    parser.add_argument("--idle", type=float, default=10, help="seconds to watch idle workers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="parts of the names of those to measure"
    )
    parser.add_argument("--server", help="the server program to run")
    told = parser.parse_args()
    # So that it takes its workers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    those, left_out = contenders(told)
    binary = shutil.which(told.server) if told.server else None
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="workers-") as folder,
        # By TCP, which all of them speak.
        EmbeddedServer(binary=binary, port=port),
    ):
        contest = Contest(told, f"redis://127.0.0.1:{port}/0", Path(folder))
        contest.left_out.update(left_out)
        for number in range(told.rounds):
            contest.round(number + 1, those)
        report(contest)
        compare(contest)
        print("load of the machine: " + ", ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
