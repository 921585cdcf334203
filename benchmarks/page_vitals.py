"""What a reader waits for and what jumps, on every page of the console, in a real Chromium.

    .venv/bin/python -m benchmarks.page_vitals [--seconds 2] [--width 1440 390]

Runs a console over the furnished shop of the demo while its people work twenty times as fast as
they do, opens every page, and looks at it for some seconds in which it is brought up to date.
Prints for each what its answer cost Redis (reads of its connection: round trips, and
now and then something of the background), how large it was
on the wire, when its largest part was painted (LCP), and by how much what was there was moved
(layout shift; also by what came later), the worst of all widths. The goals are 3 round trips,
100 KB, a second, and 0.02; the exit code is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from playwright.sync_api import sync_playwright

from benchmarks.pages import console, cost, wait_for_index
from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web.demo import seeds
from qless_web.demo.workers import Crew
from tests.browser.conftest import FLAGS, chromium
from tests.support.every_page import every_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: Answers that the cost of a page is the least of.
ANSWERS = 12
#: How fast the shop is.
PACE = 20

_WATCH = """
window.vitals = { lcp: 0, shift: 0, moved: [] };
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.vitals.lcp = each.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) {
    if (each.hadRecentInput) continue;
    window.vitals.shift += each.value;
    for (const { node } of each.sources)
      window.vitals.moved.push(node?.id || node?.className || node?.nodeName || "gone");
  }
}).observe({ type: "layout-shift", buffered: true });
"""


class Vitals(NamedTuple):
    """Of one page: seconds until the largest part was there, what moved and by how much."""

    lcp: float
    shift: float
    moved: tuple[str, ...]


class Goal(NamedTuple):
    """What a page may cost and do at most."""

    reads: float = 3
    kilobytes: float = 100
    lcp: float = 1.0
    shift: float = 0.02


def main() -> int:
    """Look at every page and print; answers the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2, help="how long each is looked at")
    parser.add_argument("--width", type=int, nargs="+", default=[1440, 390])
    parser.add_argument("--only", default="", help="pages whose address holds this")
    args = parser.parse_args()
    missed = 0
    with ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer())
        client = stack.enter_context(Client(server.url))
        seeds.plant(client)
        paths = [path for path in every_page(client) if args.only in path]
        port = stack.enter_context(console(server.url))
        wait_for_index(port)
        costs = {path: [cost(client, port, path) for _ in range(ANSWERS)] for path in paths}
        crew = Crew(server.url, pace=PACE)
        stack.callback(crew.stop)
        crew.start()
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        _head(browser, port, args.width[0])
        for path in paths:
            seen = [_look(browser, port, path, width, args.seconds) for width in args.width]
            worst = max(seen, key=lambda each: each.shift)
            found = Goal(
                min(each.trips for each in costs[path]),
                min(each.size for each in costs[path]) / 1024,
                max(each.lcp for each in seen),
                worst.shift,
            )
            is_over = any(mine > most for mine, most in zip(found, Goal(), strict=True))
            missed += is_over
            moved = ", ".join(sorted(set(worst.moved))[:4]) if worst.shift > Goal().shift else ""
            print(
                f"{path[:51]:52}{found.reads:>6.0f}{found.kilobytes:>7.1f}{found.lcp * 1000:>8.0f}"
                f"{found.shift:>8.3f}{' !' if is_over else '  '}{moved}",
                flush=True,
            )
        browser.close()
    print(f"{len(paths)} pages, {missed} of them miss a goal")
    return int(missed > 0)


def _head(browser: Browser, port: int, width: int) -> None:
    """Print the headings, and what the machine needs for the least there is to see."""
    least = _look(browser, port, "/static/favicon.svg", width, 1).lcp
    print(f"a picture alone takes {least * 1000:.0f} ms")
    print(f"{'page':52}{'reads':>6}{'KB':>7}{'LCP ms':>8}{'shift':>8}  what moved")


def _look(browser: Browser, port: int, path: str, width: int, seconds: float) -> Vitals:
    """Open a page in a browser that has seen none before, and look at it for a while."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.add_init_script(_WATCH)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}{path}")
    page.wait_for_timeout(seconds * 1000)
    told: dict[str, Any] = page.evaluate("window.vitals")
    context.close()
    return Vitals(told["lcp"] / 1000, told["shift"], tuple(map(str, told["moved"])))


if __name__ == "__main__":
    sys.exit(main())
