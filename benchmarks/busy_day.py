"""For how long pages say what is no longer so, on a day of the demo played in two minutes.

    .venv/bin/python -m benchmarks.busy_day [--seconds 120] [--crews 2]

Runs a console on a server of its own and lets the shop of the demo work 720 times as fast as it
does, its people spread over some processes. Meanwhile Chromium has the overview, all queues, one
queue, all failures and all workers open, and nobody touches them. Every number on them is read
again and again, and held against what the script said just before: a number disagrees for as long
as it lies outside what the script counted since. Prints the longest for each page, and exits with
1 where one is longer than two seconds. Counts swing, so that an old number may be right by chance.
How often shows what the same numbers are told where they stand on the page for ten seconds more.
"""

from __future__ import annotations

import argparse
import multiprocessing
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
    path: str
    name: str
    value: int


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
    ages, still = ({path: list[tuple[float, str]]() for path in PAGES} for _ in "ab")
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
        while clock.monotonic() < began + args.seconds:
            for path, page in pages.items():
                at = clock.monotonic()
                read = [Seen(at, path, *each) for each in shown(page).items()]
                seen.extend(read)
                old.extend(each._replace(at=at + STILL_S) for each in read)
            _hold(truth, seen, ages)
            _hold(truth, old, still)
        runs = _popped(client) - before
        print(f"{runs:,} runs in {clock.monotonic() - began:.0f} s; counted {truth.asked:,} times")
    _print(ages, "page")
    _print(still, "ten seconds later")
    return int(max(found[-1][0] for found in ages.values()) > GOAL_S)


def _hold(truth: Truth, seen: deque[Seen], ages: dict[str, list[tuple[float, str]]]) -> None:
    """Note how old the numbers are that can be told by now."""
    while seen and (age := truth.age(seen[0])) is not None:
        ages[seen[0].path].append((age, seen.popleft().name))


def _print(ages: dict[str, list[tuple[float, str]]], title: str) -> None:
    print(f"{title:20}{'numbers':>9}{'right':>7}{'p50 s':>8}{'p99 s':>8}{'longest':>9}  which")
    for path, found in ages.items():
        found.sort()
        half, most = (found[int(len(found) * share)][0] for share in (0.5, 0.99))
        right = sum(age < RIGHT_S for age, _ in found) / len(found)
        longest, name = found[-1]
        print(
            f"{path:20}{len(found):>9}{right:>7.0%}{half:>8.2f}{most:>8.2f}{longest:>9.2f}  {name}"
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
