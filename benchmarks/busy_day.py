"""For how long pages say what is no longer so, on a day of the demo played in two minutes.

    .venv/bin/python -m benchmarks.busy_day [--seconds 120] [--crews 2]

Runs a console on a server of its own and lets the shop of the demo work 720 times as fast as it
does, its people spread over some processes. Meanwhile Chromium has the overview, all queues, one
queue, all failures and all workers open, and nobody touches them. Every number on them is read
again and again, and held against what the script said just before: a number disagrees for as long
as it lies outside what the script counted since. Prints for each page half and nearly all of these
times, and the longest for which such a number stood there; exits with 1 where one of the last two
is longer than two seconds. A number that lived for some milliseconds between two counts is taken
for as old as the one before that was like it, which is why the longest counts from when it came to
the page. And counts swing, so that an old number may be right by chance. How often shows what the
same numbers are told where they stand on the page for ten seconds more.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import threading
from collections import deque
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from playwright.sync_api import sync_playwright

from benchmarks.pages import console
from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_web.demo.workers import Crew
from tests.browser.conftest import FLAGS, chromium
from tests.support.figures import PAGES, held, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.synchronize import Barrier, Event

    from playwright.sync_api import Page

DAY_S = 86_400
#: What a number may disagree for, and how far back is looked at all.
GOAL_S, WINDOW_S = 2.0, 30.0
#: Up to what a number is called right: pages are read one after another, and counting takes time.
RIGHT_S = 0.5
#: For how long a page stands still that everything is held against.
STILL_S = 10.0
clock = Clock()


class Seen(NamedTuple):
    """A number that stood on a page."""

    at: float
    #: Since when it stands there.
    since: float
    path: str
    name: str
    value: int


class Old(NamedTuple):
    """How old a number was.

    Attributes:
        stood: seconds for which it stood on the page and was not so.
        age: seconds since it was last so, as far as that was counted.
        name: its name.

    """

    stood: float
    age: float
    name: str


class Truth:
    """What the script counted, and when; asked without a pause on a thread."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._samples: deque[tuple[float, dict[str, int]]] = deque()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.asked = 0

    def close(self) -> None:
        """Ask no more."""
        self._over.set()
        self._thread.join()

    def age(self, seen: Seen) -> float | None:
        """Seconds since a number was last between the least and the most that was counted.

        None until it has been counted once more since it was read.
        """
        samples = self._samples.copy()
        if samples[-1][0] < seen.at:
            return None
        least, most = seen.value + 1, seen.value - 1
        for at, counted in reversed(samples):
            number = counted.get(seen.name, 0)
            least, most = min(least, number), max(most, number)
            if least <= seen.value <= most:
                return max(0.0, seen.at - at)
        return seen.at - samples[0][0]

    def _run(self) -> None:
        while not self._over.is_set():
            at = clock.monotonic()
            self._samples.append((at, held(self._client)))
            self.asked += 1
            while self._samples[0][0] < at - WINDOW_S:
                self._samples.popleft()


def main() -> int:
    """Play, look and print; answers the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120, help="what a day is played in")
    parser.add_argument("--crews", type=int, default=2, help="processes that play it")
    args = parser.parse_args()
    ages, still = ({path: list[Old]() for path in PAGES} for _ in "ab")
    with ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer())
        client = stack.enter_context(Client(server.url))
        Crew(server.url).furnish()
        pages = stack.enter_context(_open(stack.enter_context(console(server.url))))
        truth = Truth(client)
        stack.callback(truth.close)
        stack.enter_context(_crews(server.url, args.crews, DAY_S / args.seconds))
        began, before = clock.monotonic(), _popped(client)
        seen, old = deque[Seen](), deque[Seen]()
        before_that: dict[str, dict[str, Seen]] = {path: {} for path in pages}
        while clock.monotonic() < began + args.seconds:
            for path, page in pages.items():
                read = _read(page, path, before_that[path])
                before_that[path] = {each.name: each for each in read}
                seen.extend(read)
                old.extend(each._replace(at=each.at + STILL_S) for each in read)
            _hold(truth, seen, ages)
            _hold(truth, old, still)
        runs = _popped(client) - before
        print(f"{runs:,} runs in {clock.monotonic() - began:.0f} s; counted {truth.asked:,} times")
    _print(ages, "page")
    _print(still, "ten seconds later")
    return int(any(max(_most(found), max(found).stood) > GOAL_S for found in ages.values()))


def _read(page: Page, path: str, before: dict[str, Seen]) -> list[Seen]:
    """Read a page again, of which these numbers stood there when it was read before."""
    at = clock.monotonic()
    read = []
    for name, value in shown(page).items():
        last = before.get(name)
        since = last.since if last and last.value == value else at
        read.append(Seen(at, since, path, name, value))
    return read


def _hold(truth: Truth, seen: deque[Seen], ages: dict[str, list[Old]]) -> None:
    """Note how old the numbers are that can be told by now."""
    while seen and (age := truth.age(seen[0])) is not None:
        each = seen.popleft()
        ages[each.path].append(Old(min(age, each.at - each.since), age, each.name))


def _most(found: list[Old]) -> float:
    return sorted(old.age for old in found)[int(len(found) * 0.99)]


def _print(ages: dict[str, list[Old]], title: str) -> None:
    print(f"{title:20}{'numbers':>9}{'right':>7}{'p50 s':>8}{'p99 s':>8}{'longest':>9}  which")
    for path, found in ages.items():
        half = statistics.median(old.age for old in found)
        right = sum(old.age < RIGHT_S for old in found) / len(found)
        longest = max(found)
        print(
            f"{path:20}{len(found):>9}{right:>7.0%}{half:>8.2f}{_most(found):>8.2f}"
            f"{longest.stood:>9.2f}  {longest.name}"
        )


def _popped(client: Client) -> int:
    """Count what was taken today."""
    return sum(client.queues[each.name].stats().wait.count for each in client.queues.counts)


@contextmanager
def _open(port: int) -> Iterator[dict[str, Page]]:
    """Open every page, and wait until each is live."""
    with sync_playwright() as playwright:
        path = chromium()
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        context = browser.new_context()
        pages = {path: context.new_page() for path in PAGES}
        for path, page in pages.items():
            page.goto(f"http://127.0.0.1:{port}{path}")
        for page in pages.values():
            page.locator("#live-status[data-state=live]").wait_for()
        yield pages
        browser.close()


@contextmanager
def _crews(url: str, count: int, pace: float) -> Iterator[None]:
    """Let so many crews work, which together keep that pace."""
    spawn = multiprocessing.get_context("spawn")
    ready, over = spawn.Barrier(count + 1), spawn.Event()
    told = (url, pace / count, ready, over)
    crews = [spawn.Process(target=_work, args=told) for _ in range(count)]
    for crew in crews:
        crew.start()
    ready.wait()
    try:
        yield
    finally:
        over.set()
        for crew in crews:
            crew.join()


def _work(url: str, pace: float, ready: Barrier, over: Event) -> None:
    crew = Crew(url, pace=pace)
    ready.wait()
    crew.start()
    over.wait()
    crew.stop()


if __name__ == "__main__":
    sys.exit(main())
