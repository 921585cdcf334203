"""The page of all components in all states, from made-up data: for whoever changes the looks."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import ClassVar

from qless_core.reads.job import Happening
from qless_web.formatting import duration
from qless_web.presenters import charts, data, traces
from qless_web.presenters.attempts import Attempt, Walk
from qless_web.presenters.attention import Attention
from qless_web.presenters.jobs import STATES
from qless_web.presenters.page import (
    Action,
    Ask,
    Crumb,
    EmptyState,
    Flash,
    Link,
    Page,
    Pager,
    Tab,
    pager,
)
from qless_web.presenters.rows import GroupRow, JobRow, QueueRow
from qless_web.presenters.worker_rows import CurrentJob, WorkerRow

_HERE = Link("patterns.show")

_TRACE = """Traceback (most recent call last):
  File "/srv/shop/.venv/lib/python3.13/site-packages/client/pool.py", line 214, in send
    raise Timeout(self, "read", seconds)
  File "/srv/shop/billing.py", line 88, in charge
    answer = gateway.send(order.card, order.cents)
ConnectionError: pay-3.example:443 did not answer in 10 s
"""

_DATA = json.dumps(
    {
        "order": 12345678901234567890,
        "amount": 19.90,
        "rush": True,
        "coupon": None,
        "note": "<b>leave at the door</b>\nring twice",
        "customer": {"name": "Ada Ünal", "tags": ["eu", "vip"], "visits": []},
    }
)


@dataclass(frozen=True, kw_only=True)
class Patterns(Page):
    """Everything the macros can draw, with the data they take."""

    template: ClassVar[str] = "patterns.html"

    states: tuple[str, ...]
    attention: tuple[Attention, ...]
    more_attention: int
    jobs: tuple[JobRow, ...]
    queues: tuple[QueueRow, ...]
    groups: tuple[GroupRow, ...]
    workers: tuple[WorkerRow, ...]
    verbs: tuple[tuple[str, str, Link, bool], ...]
    tabs: tuple[Tab, ...]
    pagers: tuple[Pager, ...]
    empties: tuple[EmptyState, ...]
    actions: tuple[Action, ...]
    asks: tuple[Ask, ...]
    flashes: tuple[Flash, ...]
    untag: Action
    here: Link
    histogram: charts.Histogram
    nothing_measured: charts.Histogram
    attempts: tuple[Attempt, ...]
    timeline: charts.Timeline
    tree: data.Node
    trace: traces.Trace


def patterns(now: float) -> Patterns:
    """Return the page as of one instant."""
    attempts, drawing = _attempts(now)
    return Patterns(
        title="Patterns",
        nav="patterns",
        crumbs=(Crumb("About", _HERE), Crumb("Patterns")),
        states=STATES,
        attention=_attention(now),
        more_attention=3,
        jobs=_jobs(now),
        queues=_queues(now),
        groups=_groups(now),
        workers=_workers(now),
        verbs=(
            ("Retry", "retry", _HERE, False),
            ("Move", "move", _HERE, False),
            ("Cancel", "cancel", _HERE, True),
        ),
        tabs=_tabs(),
        pagers=(
            pager(_HERE, number=1, total=3),
            pager(_HERE, number=2, total=4812),
            pager(_HERE, number=193, total=4812),
        ),
        empties=_empties(),
        actions=_actions(),
        asks=_asks(),
        flashes=_flashes(),
        untag=Action(text="Remove", link=_HERE, fields=(("tag", "vip"),)),
        here=_HERE,
        histogram=_histogram(),
        nothing_measured=charts.histogram((), say=duration),
        attempts=attempts,
        timeline=drawing,
        tree=data.tree(_DATA),
        trace=traces.trace(_TRACE),
    )


def _actions() -> tuple[Action, ...]:
    return (
        Action(text="Retry", link=_HERE, icon="retry"),
        Action(text="Move", link=_HERE, icon="move", asks=True),
        Action(text="Track", link=_HERE, icon="track"),
        Action(text="Cancel", link=_HERE, icon="cancel", asks=True, danger=True),
    )


def _attention(now: float) -> tuple[Attention, ...]:
    unpause = Action(text="Unpause", link=_HERE, icon="unpause")
    return (
        Attention(
            state="stalled",
            text="search: 12 stalled",
            link=_HERE,
            more="their workers have gone silent",
        ),
        Attention(
            state="waiting",
            text="export: 1,204 waiting",
            link=_HERE,
            more="no worker takes them",
            at=now - 9_000,
            at_word="next job waits",
            lasts=True,
        ),
        Attention(state="paused", text="mail is paused", link=_HERE, action=unpause),
        Attention(
            state="failed",
            text="billing-ConnectionError: 4,812 failed",
            link=_HERE,
            more="pay-3.example:443 did not answer in 10 s",
            at=now - 12,
            at_word="last",
        ),
    )


def _jobs(now: float) -> tuple[JobRow, ...]:
    rows = (
        ("billing.Charge", "failed", "billing", -2, 2, "did not answer in 10 s", ("eu", "vip")),
        ("mail.Welcome", "running", "mail", 51, 5, "", ()),
        ("mail.Digest", "waiting", "mail", -14, 5, "", ("weekly",)),
        ("search.Reindex", "stalled", "search", -61, 4, "", ()),
        ("report.Quarterly", "scheduled", "reports", 3_720, 5, "", ("eu",)),
        ("report.Bundle", "depends", "reports", -300, 5, "", ()),
        ("thumbs.Render", "complete", "thumbs", -86_400, 5, "", ()),
    )
    jobs = tuple(
        JobRow(
            jid=f"9f3c21aa0b3c4d5e8f9012345678{index:04x}",
            link=_HERE,
            klass=klass,
            state=state,
            queue=queue,
            queue_link=_HERE,
            worker="w-7.example-4711" if state == "running" else "",
            worker_link=_HERE,
            tags=tuple((tag, _HERE) for tag in tags),
            priority=index * 5,
            retries=5,
            remaining=remaining,
            at=now + at,
            note=note,
            tracked=index == 1,
            actions=_actions(),
        )
        for index, (klass, state, queue, at, remaining, note, tags) in enumerate(rows)
    )
    return (*jobs, JobRow(jid="order-12", link=_HERE, gone=True))


def _queues(now: float) -> tuple[QueueRow, ...]:
    rows = (
        ("billing", (40, 3, 0, 12, 0, 4_812), -840, False),
        ("export of everything/with a very long name that never ends", (1_204, 0, 0, 0, 31, 0),
         -9_000, False),
        ("mail", (310, 24, 2, 4, 0, 2), -10_800, True),
        ("thumbs", (0, 0, 0, 0, 0, 0), None, False),
    )  # fmt: skip
    largest = max(sum(counts) for _, counts, _, _ in rows)
    return tuple(
        QueueRow(
            name=name,
            link=_HERE,
            waiting=waiting,
            running=running,
            stalled=stalled,
            scheduled=scheduled,
            depends=depends,
            recurring=int(name == "mail"),
            failed=failed,
            paused=paused,
            oldest=None if oldest is None else now + oldest,
            bar=charts.state_bar(
                zip(
                    ("waiting", "running", "stalled", "scheduled", "depends", "failed"),
                    (waiting, running, stalled, scheduled, depends, failed),
                    strict=True,
                ),
                full=largest,
            ),
            actions=_actions()[1:],
        )
        for name, (waiting, running, stalled, scheduled, depends, failed), oldest, paused in rows
    )


def _groups(now: float) -> tuple[GroupRow, ...]:
    rows = (
        ("billing-ConnectionError", 4_812, -2, "pay-3.example:443 did not answer in 10 s"),
        ("failed-retries", 31, -4_000, "job exhausted its retries"),
        ("mail-UnicodeDecodeError", 2, -190_000, "'utf-8' codec can't decode byte 0xff"),
    )
    total = sum(row[1] for row in rows)
    return tuple(
        GroupRow(
            name=name,
            shown=name,
            link=_HERE,
            count=count,
            share=count / total,
            last=now + last,
            message=message,
            klass="shop.Charge",
            queue=name.partition("-")[0],
            queue_link=_HERE,
            actions=_actions()[:2],
        )
        for name, count, last, message in rows
    )


def _workers(now: float) -> tuple[WorkerRow, ...]:
    forking = ("forking, pid 4711 on w-7.example", "4 children")
    job = CurrentJob(jid="9f3c21aa0b3c4d5e8f90123456789abc", klass="Charge", link=_HERE, ends=now)
    rows = (
        ("w-7.example-4711", forking, ("working", "running"), "", 12, 0, -3),
        ("w-8.example-22", (), ("paused", "paused"), "asked to resume", 3, 2, -61),
        ("w-9.example-9", ("serial, pid 9 on w-9.example",), ("idle", "waiting"), "", 0, 0, -2),
        ("old", (), ("gone", "stalled"), "", 0, 0, -90_000),
    )
    return tuple(
        WorkerRow(
            name=name,
            link=_HERE,
            running=running,
            stalled=stalled,
            seen=now + seen,
            facts=facts,
            doing=doing,
            asked=asked,
            queues=(("billing", _HERE), ("mail-*", None)) if running else (),
            more_queues=running // 4,
            job=replace(job, ends=now + 43 - 60 * stalled) if running else None,
            more_jobs=max(0, running + stalled - 1),
            gone=doing[0] == "gone",
            actions=_actions()[3:],
        )
        for name, facts, doing, asked, running, stalled, seen in rows
    )


def _tabs() -> tuple[Tab, ...]:
    counts = (("waiting", 40), ("running", 3), ("stalled", 0), ("scheduled", 12), ("failed", 4_812))
    states = tuple(
        Tab(key=key, text=key.capitalize(), link=_HERE, count=count, state=key)
        for key, count in counts
    )
    return (Tab(key="about", text="Overview", link=_HERE), *states)


def _empties() -> tuple[EmptyState, ...]:
    return (
        EmptyState(
            kind="nothing-yet",
            title="No queues yet",
            text="A queue is there as soon as a job is put into it.",
            command="qless put mail mail.Welcome '{\"user\": 42}'",
        ),
        EmptyState(
            kind="nothing-wrong", title="Nothing has failed", text="All is well. Have some tea."
        ),
        EmptyState(
            kind="no-match",
            title="No job has the tag “vip”",
            link=_HERE,
            link_text="Clear the filter",
        ),
    )


def _asks() -> tuple[Ask, ...]:
    return (
        Ask(
            verb="Retry",
            count=4_812,
            question="Retry 4,812 jobs of billing-ConnectionError into their own queues?",
            link=_HERE,
            left_out=("3 are left out: 2 have gone, 1 is running.",),
            consequences=("They keep their priority and get their retries back.",),
            back="/patterns",
        ),
        Ask(
            verb="Cancel",
            count=1,
            question="Cancel billing.Charge 9f3c21aa…?",
            link=_HERE,
            consequences=(
                "It is removed with its data and history; this cannot be undone.",
                "2 jobs depend on it and are cancelled as well:",
            ),
            examples=(Crumb("report.Bundle 9f3c21aa…", _HERE), Crumb("mail.Receipt 77ab0e21…")),
            back="/patterns",
            danger=True,
            problem="It has begun to run meanwhile. Look once more.",
        ),
    )


def _flashes() -> tuple[Flash, ...]:
    return (
        Flash("Retried 4,812 jobs.", "done", _HERE, "Look at them"),
        Flash("mail is paused.", "info"),
        Flash("Retried 10 of 12 jobs.", "warning", details=("order-12 has gone", "a1 is running")),
        Flash("Nothing was cancelled: another worker holds this job now.", "error"),
    )


def _histogram() -> charts.Histogram:
    counts = (3, 18, 122, 260, 431, 380, 214, 160, 71, 44, 12, 4, 0, 1)
    bins = tuple(
        charts.Bin(low, high, count)
        for low, high, count in zip(charts.EDGES_S, charts.EDGES_S[1:], counts, strict=False)
    )
    return charts.histogram(bins, marks=(("median", 14), ("p95", 210)), say=duration)


def _attempts(now: float) -> tuple[tuple[Attempt, ...], charts.Timeline]:
    walk = Walk(trimmed=True)
    for what, before, detail in (
        ("put", 4_000, {"q": "billing"}),
        ("put", 140, {"q": "billing"}),
        ("popped", 128, {"worker": "w-3.example-4711"}),
        ("half of the pages done", 90, {}),
        ("timed-out", 67, {}),
        ("popped", 55, {"worker": "w-7.example-22"}),
        ("died", 40, {"ran": True}),
        ("popped", 38, {"worker": "w-3.example-4711"}),
        ("failed", 20, {}),
        ("put", 15, {"q": "billing-again"}),
        ("popped", 9, {"worker": "w-9.example-9"}),
        ("done", 2, {}),
    ):
        walk.take(Happening(what, now - before, detail))
    _, attempts, drawing = walk.attempts()
    return attempts, drawing
