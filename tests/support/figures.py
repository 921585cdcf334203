"""What pages say and what Redis holds: the same names for the same numbers.

Shared by a test that looks once everything is quiet and by `benchmarks/busy_day.py`, which looks
all the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from qless_core import Client

#: Pages that are looked at.
PAGES = ("/", "/queues", "/queues/mail", "/failed", "/workers")

#: Reads every number of a page that `held` knows. Rows that are struck through claim nothing.
_READ = r"""() => {
  const found = {};
  const number = (element) => Number(element.textContent.replace(/[^0-9]/g, ""));
  const note = (name, element) => { if (element) found[name] = number(element); };
  for (const each of document.querySelectorAll("#figures .stat"))
    note(each.querySelector("dt").textContent.toLowerCase(), each.querySelector("dd"));
  for (const [kind, rows] of [
    ["queue", "table[data-kind=queues] .row"],
    ["group", "table[data-kind=inbox] .row"],
    ["worker", "table[data-kind=workers] .row"],
  ])
    for (const row of document.querySelectorAll(rows)) {
      if ("gone" in row.dataset) continue;
      const name = row.querySelector(".row-link").textContent;
      for (const cell of row.querySelectorAll("[data-label]:not([data-label$=waits])"))
        note(`${kind} ${name} ${cell.dataset.label}`, cell);
    }
  const queue = document.querySelector("#queue-tabs") && document.querySelector("h1").textContent;
  for (const tab of document.querySelectorAll("#queue-tabs a"))
    note(`queue ${queue.trim()} ${tab.firstChild.textContent.trim().toLowerCase()}`,
         tab.querySelector(".tab-count"));
  note("failed", document.querySelector("#failures-count b"));
  for (const place of ["queues", "failures", "workers", "completed"])
    note(`rail ${place}`, document.querySelector(`#rail [data-nav=${place}] .rail-count`));
  return found;
}"""


def shown(page: Page) -> dict[str, int]:
    """Read the numbers of a page as it is on the screen."""
    return dict(page.evaluate(_READ))


def held(client: Client) -> dict[str, int]:
    """Ask the script, not what pages ask, for every number there is."""
    found: dict[str, int] = {}
    queues = client.queues.counts
    states = ("waiting", "running", "stalled", "scheduled", "depends", "recurring")
    for state in states:
        found[state] = sum(getattr(queue, state) for queue in queues)
        found |= {f"queue {queue.name} {state}": getattr(queue, state) for queue in queues}
    names = [queue.name for queue in queues]
    today = int(client.now()) // 86_400 * 86_400
    with client.redis.pipeline(transaction=False) as pipeline:
        pipeline.zcard(client.keys.completed)
        for name in names:
            pipeline.hget(client.keys.stats(today, name), "failures")
        completed, *failed = pipeline.execute()
    found |= {
        f"queue {name} failed today": int(count or 0)
        for name, count in zip(names, failed, strict=True)
    }
    groups = client.failures.groups
    found["failed"] = found["rail failures"] = sum(groups.values())
    found |= {f"group {group} jobs": count for group, count in groups.items()}
    workers = client.workers.counts
    found |= {f"worker {worker.name} running": worker.jobs for worker in workers}
    found |= {f"worker {worker.name} stalled": worker.stalled for worker in workers}
    found["completed"] = found["rail completed"] = completed
    found["rail queues"], found["rail workers"] = len(queues), len(workers)
    return found
