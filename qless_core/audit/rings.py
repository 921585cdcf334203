"""Rings in a graph of who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def rings(links: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Find one ring in each part of the graph that has some, each jid waiting for the next.

    Args:
        links: each jid with those that it waits for; jids that are no key wait for nobody.

    >>> list(rings({"a": ["b"], "b": ["c"], "c": ["a", "x"], "d": ["a"]}))
    [('a', 'b', 'c')]
    >>> list(rings({"a": ["b"], "b": ["c"], "s": ["s"]}))
    [('s',)]

    """
    done: set[str] = set()
    for start in links:
        if start in done:
            continue
        # Without recursion: chains may be longer than the stack is deep.
        path: dict[str, Iterator[str]] = {start: iter(links[start])}
        while path:
            jid = next(reversed(path))
            other = next(path[jid], None)
            if other is None:
                done.add(jid)
                del path[jid]
            elif other in path:
                way = list(path)
                ring = tuple(way[way.index(other) :])
                done.update(ring)
                for each in way:
                    # What leads into the ring is looked at no more: the ring is to go first.
                    done.add(each)
                yield ring
                path.clear()
            elif other in links and other not in done:
                path[other] = iter(links[other])
