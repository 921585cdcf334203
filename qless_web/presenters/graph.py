"""The jobs around one: drawn from left to right in the order they can run, and listed. Pure.

Boxes and lines in pixels. What is not drawn is counted, and a ring of jobs that wait for one
another is named: none of them ever runs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import count, isolated, short_jid
from qless_web.presenters import jobs, named
from qless_web.presenters.page import Crumb, Link, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.reads.relatives import Relative, Relatives

#: Pixels: a box, and the room between two, across and down.
BOX_WIDTH, BOX_HEIGHT = 156, 46
GAP_ACROSS, GAP_DOWN = 44, 10

#: Pixels around the whole drawing, for lines that go around boxes.
MARGIN = 14

#: Letters of a class that fit into a box.
LETTERS = 20

#: Letters of them that a number of jobs beyond it takes.
_NUMBER = 4

#: Boxes of one column, on the page of a job and on the page of its graph.
FEW, MANY = 6, 24

_GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One job in the drawing.

    Attributes:
        jid: whole.
        klass: what fits of its class.
        title: everything, for whoever points at it or cannot see it.
        state: as a pop would find it; "gone" when the job is no longer there.
        x: pixels from the left.
        y: pixels from the top.
        link: its page; None for the job in the middle.
        ring: it waits for itself, by way of others.
        beyond: how many it waits for, and how many wait for it, that are not drawn; as it says.

    """

    jid: str
    klass: str
    title: str
    state: str
    x: int
    y: int
    link: Link | None
    ring: bool
    beyond: str

    @property
    def centre(self) -> int:
        """Pixels from the top to its middle."""
        return self.y + BOX_HEIGHT // 2


@dataclass(frozen=True, slots=True)
class Line:
    """From a job to one that waits for it; kind is "", "blocked" or "ring"."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One job of the list behind the drawing.

    Attributes:
        where: where it stands, in words.
        waits_for: for how many jobs it waits.
        blocks: how many wait for it.
        ring: it waits for itself, by way of others.

    """

    jid: str
    klass: str
    state: str
    link: Link
    where: str
    waits_for: int
    blocks: int
    ring: bool
    here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The drawing, the list behind it, and what both leave out.

    Attributes:
        label: everything in a sentence.
        columns: how many boxes stand side by side.
        left_out: sentences about what is not drawn.
        rings: jids that wait for one another, so that none of them runs.

    """

    width: int
    height: int
    columns: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    rows: tuple[Row, ...]
    label: str
    left_out: tuple[str, ...]
    rings: tuple[str, ...]


def graph(found: Relatives, most: int = MANY) -> Graph | None:
    """Return the drawing of what is around a job; None where there is nothing.

    Args:
        found: as read.
        most: how many boxes a column holds.

    """
    if len(found.jobs) < 2:  # noqa: PLR2004 - itself alone
        return None
    drawing = _Drawing(found, most)
    return drawing.graph()


class _Drawing:
    """Places the jobs, and says what had no place."""

    def __init__(self, found: Relatives, most: int) -> None:
        self._root = found.jobs[0]
        self._all = {each.jid: each for each in found.jobs}
        self._rings = _rings(found.links)
        self._columns = self._chosen(found.jobs, most)
        self._shown = {jid for column in self._columns.values() for jid in column}
        self._links = [
            (first, then)
            for first, then in found.links
            if first in self._shown and then in self._shown
        ]
        for step in (-1, 1, -2, 2):
            self._columns[step].sort(key=self._height_of_neighbours(step))

    def _chosen(self, found: Sequence[Relative], most: int) -> defaultdict[int, list[str]]:
        """Choose what is drawn: what holds others up first, and nothing that hangs in the air."""
        columns: defaultdict[int, list[str]] = defaultdict(list)
        for each in sorted(found, key=lambda each: (abs(each.step), _urgency(each), each.jid)):
            if len(columns[each.step]) < most:
                columns[each.step].append(each.jid)
        return columns

    def _height_of_neighbours(self, step: int) -> _Order:
        nearer = {jid: at for at, jid in enumerate(self._columns[step - (1 if step > 0 else -1)])}
        heights: defaultdict[str, list[int]] = defaultdict(list)
        for first, then in self._links:
            near, far = (first, then) if step > 0 else (then, first)
            if near in nearer:
                heights[far].append(nearer[near])
        return _Order(heights, self._all)

    def graph(self) -> Graph:
        steps = [step for step in sorted(self._columns) if self._columns[step]]
        tallest = max(len(self._columns[step]) for step in steps)
        height = 2 * MARGIN + tallest * (BOX_HEIGHT + GAP_DOWN) - GAP_DOWN
        boxes = {
            jid: self._box(jid, at, y)
            for at, step in enumerate(steps)
            for jid, y in self._placed(self._columns[step], height)
        }
        return Graph(
            width=2 * MARGIN + len(steps) * (BOX_WIDTH + GAP_ACROSS) - GAP_ACROSS,
            height=height,
            columns=len(steps),
            boxes=tuple(boxes.values()),
            lines=tuple(self._lines(boxes)),
            rows=tuple(self._row(self._all[jid]) for step in steps for jid in self._columns[step]),
            label=self._label(),
            left_out=tuple(self._left_out()),
            rings=tuple(sorted(self._rings & self._all.keys())),
        )

    def _placed(self, column: Sequence[str], height: int) -> Iterable[tuple[str, int]]:
        own = len(column) * (BOX_HEIGHT + GAP_DOWN) - GAP_DOWN
        for at, jid in enumerate(column):
            yield jid, (height - own) // 2 + at * (BOX_HEIGHT + GAP_DOWN)

    def _box(self, jid: str, column: int, y: int) -> Box:
        each = self._all[jid]
        here = jid == self._root.jid
        klass = each.klass or jid
        state = each.state or _GONE
        beyond = tuple(self._more(each))
        letters = LETTERS - _NUMBER * len(beyond)
        notes = [
            *(["this job"] if here else []),
            state,
            *(["in a ring"] if jid in self._rings else []),
            *(_beyond(side, number) for side, number in beyond),
        ]
        return Box(
            jid=jid,
            klass=klass if len(klass) <= letters else f"…{klass[1 - letters :]}",
            title=", ".join([f"{klass} {jid}", *notes]),
            state=state,
            x=MARGIN + column * (BOX_WIDTH + GAP_ACROSS),
            y=y,
            link=None if here else jobs.job_link(jid),
            ring=jid in self._rings,
            beyond="  ".join(
                f"← {count(number)}" if side == "before" else f"{count(number)} →"
                for side, number in beyond
            ),
        )

    def _more(self, each: Relative) -> Iterable[tuple[str, int]]:
        """Say how many lie beyond it: on its far side, and for one that waits, before it too."""
        before = each.waits_for - sum(1 for _, then in self._links if then == each.jid)
        after = each.blocks - sum(1 for first, _ in self._links if first == each.jid)
        if before > 0:
            yield "before", before
        if after > 0 and each.step >= 0:
            yield "after", after

    def _lines(self, boxes: Mapping[str, Box]) -> Iterable[Line]:
        for first, then in self._links:
            kind = "ring" if {first, then} <= self._rings else ""
            if not kind and self._all[first].state in jobs.BLOCKING:
                kind = "blocked"
            yield Line(_path(boxes[first], boxes[then]), kind)

    def _row(self, each: Relative) -> Row:
        return Row(
            jid=each.jid,
            klass=each.klass,
            state=each.state or _GONE,
            link=jobs.job_link(each.jid),
            where=_WHERE[each.step],
            waits_for=each.waits_for,
            blocks=each.blocks,
            ring=each.jid in self._rings,
            here=each.jid == self._root.jid,
        )

    def _label(self) -> str:
        root = self._root
        before = f"waits for {_jobs(root.waits_for)}" if root.waits_for else "waits for none"
        after = f"{_jobs(root.blocks)} wait{'s' if root.blocks == 1 else ''} for it"
        return f"{isolated(f'{root.klass} {short_jid(root.jid)}')} {before}; {after}"

    def _left_out(self) -> Iterable[str]:
        for step, total, words in (
            (-1, self._root.waits_for, "that it waits for"),
            (1, self._root.blocks, "that wait for it"),
        ):
            shown = sum(1 for jid in self._shown if self._is_linked(jid, step))
            if total > shown:
                yield f"{count(total - shown)} of the {count(total)} jobs {words} are not drawn."
        beyond = sum(
            number
            for jid in self._shown
            for _, number in self._more(self._all[jid])
            if jid != self._root.jid
        )
        if beyond:
            yield f"Beyond those that are drawn, where a ← or → says so, lie {count(beyond)} more."

    def _is_linked(self, jid: str, step: int) -> bool:
        root = self._root.jid
        return ((jid, root) if step < 0 else (root, jid)) in self._links


class _Order:
    """Orders a column by where its neighbours stand, so that few lines cross."""

    def __init__(self, heights: Mapping[str, Sequence[int]], known: Mapping[str, Relative]) -> None:
        self._heights = heights
        self._known = known

    def __call__(self, jid: str) -> tuple[float, int, str]:
        heights = self._heights.get(jid)
        mean = sum(heights) / len(heights) if heights else 0.0
        return mean, _urgency(self._known[jid]), jid


_WHERE = {
    -2: "two steps before",
    -1: "waited for",
    0: "this job",
    1: "waits for it",
    2: "two steps after",
}


def _urgency(each: Relative) -> int:
    if each.state in jobs.BLOCKING:
        return 0
    return 2 if each.state == "complete" else 1


def _beyond(side: str, number: int) -> str:
    if side == "before":
        return f"waits for {count(number)} more that {'is' if number == 1 else 'are'} not drawn"
    return f"{count(number)} more wait{'s' if number == 1 else ''} for it"


def _jobs(number: int) -> str:
    return f"{count(number)} job{'' if number == 1 else 's'}"


def _path(first: Box, then: Box) -> str:
    """Draw a line from the right of one box to the left of another, with a point at its end."""
    x1, y1, x2, y2 = first.x + BOX_WIDTH, first.centre, then.x, then.centre
    point = f"M{x2 - 6} {y2 - 4}L{x2} {y2}L{x2 - 6} {y2 + 4}"
    if x2 > x1:
        middle = (x1 + x2) // 2
        return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}{point}"
    # Back to a box that is not further on: around below both of them.
    below = max(first.y, then.y) + BOX_HEIGHT + GAP_DOWN
    right, left = x1 + GAP_ACROSS // 2, x2 - GAP_ACROSS // 2
    back = f"M{x1} {y1}C{right} {y1} {right} {below} {x1} {below}L{x2} {below}"
    return f"{back}C{left} {below} {left} {y2} {x2} {y2}{point}"


def _rings(links: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Find the jobs that wait for themselves, directly or by way of others."""
    following: dict[str, set[str]] = defaultdict(set)
    leading: dict[str, set[str]] = defaultdict(set)
    for first, then in links:
        following[first].add(then)
        leading[then].add(first)
    # What leads nowhere, or comes from nowhere, is in no ring: it falls away until rings are left.
    ends = [jid for jid in {*following, *leading} if not (following[jid] and leading[jid])]
    while ends:
        jid = ends.pop()
        for there, back in ((following, leading), (leading, following)):
            for other in there.pop(jid, ()):
                back[other].discard(jid)
                if not back[other]:
                    ends.append(other)
    return frozenset(jid for jid in following if _reaches(following, jid))


def _reaches(following: Mapping[str, Iterable[str]], jid: str) -> bool:
    """Say whether a way that begins at a job leads back to it."""
    seen: set[str] = set()
    ahead = list(following[jid])
    while ahead:
        other = ahead.pop()
        if other == jid:
            return True
        if other not in seen:
            seen.add(other)
            ahead += following.get(other, ())
    return False


@dataclass(frozen=True, kw_only=True)
class GraphPage(Page):
    """The jobs around one, on a page of their own; `graph` None where there is nothing."""

    template: ClassVar[str] = "jobs/graph.html"

    jid: str
    klass: str
    state: str
    link: Link
    timeline: Link
    graph: Graph | None


def graph_page(found: Relatives) -> GraphPage:
    """Return the page of what was read around a job."""
    root = found.jobs[0]
    link = jobs.job_link(root.jid)
    return GraphPage(
        title=f"Around {isolated(f'{root.klass} {short_jid(root.jid)}')}",
        nav="queues",
        crumbs=(
            Crumb("Queues", Link("queues.index")),
            Crumb(isolated(named.short(root.queue, 40)), jobs.queue_link(root.queue)),
            Crumb(isolated(short_jid(root.jid)), link),
            Crumb("Graph"),
        ),
        topics=tuple(f"job:{each.jid}" for each in found.jobs[:_TOPICS]),
        jid=root.jid,
        klass=root.klass,
        state=root.state,
        link=link,
        timeline=Link("lives.chain", {"jid": root.jid}),
        graph=graph(found),
    )


#: Jobs that the page listens to; the tick finds what happens to the others.
_TOPICS = 60
