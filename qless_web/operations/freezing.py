"""From a selection to an operation with a frozen list: what is done later is what was chosen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from qless_core.errors import BadArgument
from qless_web.operations import operation as store
from qless_web.operations import reach, waiting
from qless_web.operations.editing import Edits
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from qless_core.client import Client
    from qless_web.operations.operation import Operation
    from qless_web.operations.options import Options
    from qless_web.operations.selection import Selection

#: Entries of a list that one round trip reads or writes.
_COPIED: Final = 1_000
#: Jobs that one call of the script adds to a list, and looks at.
_ADDED: Final = 500
_LOOKED_AT: Final = 250

#: Jids of a few that are shown.
_SHOWN: Final = 5


class Search(Protocol):
    """Finds the jobs of a search."""

    def __call__(self, q: str) -> Iterable[str]:
        """Give the jids that a search finds.

        Raises:
            BadArgument: it cannot be understood, or there is no index to search.

        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who wants an operation, and what they say about it.

    Attributes:
        who: that.
        address: where they ask from.
        note: what they say.
        reach: patterns of the queues whose jobs they may change; none: all.

    """

    who: str = ""
    address: str = ""
    note: str = ""
    reach: tuple[str, ...] = ()


def freeze(  # noqa: PLR0913 - what an operation is made of, by name
    client: Client,
    *,
    action: str,
    selection: Selection,
    options: Options,
    asked: Asked,
    search: Search,
    keep_s: int,
) -> Operation:
    """Make a draft: its jobs are listed, and looked at; nothing is done to them.

    Args:
        client: whose jobs.
        action: what it is to do.
        selection: to which jobs.
        options: and how.
        asked: who wants it.
        search: finds the jobs of a search.
        keep_s: seconds for which is kept what the jobs were.

    Raises:
        BadArgument: there is nothing of what was chosen.
        QlessError: Redis refused.

    """
    # Before anything is written: a search may not be understood.
    jids = selection.jids if selection.q is None else tuple(search(selection.q))
    name = store.new_id()
    fields = {
        **asked_fields(client, action, asked, selection.told()),
        "keep": keep_s,
        "told": store.dumps(options.told()),
        **options.stored(),
        **_new_queue(client, options),
        **_form(selection, action, options),
    }
    _draft(client, name, fields)
    total = _list(client, name, action, selection, options, jids, asked.reach)
    if not total:
        send(client, call("unlink", store.hash_key(client.keys, name)))
        problem = "There is no job in what was chosen."
        raise BadArgument(problem)
    store.change(client, name, total=total)
    _expire(client, name)
    return look(client, name, total, Edits(client, name) if action == "edit" else None)


def asked_fields(
    client: Client, action: str, asked: Asked, selection: Mapping[str, object]
) -> dict[str, object]:
    """Give the fields that every draft begins with."""
    limits = {"patterns": asked.reach, "reach": reach.stored(asked.reach)} if asked.reach else {}
    return {
        "action": action,
        "state": "draft",
        "run": 0,
        "at": 0,
        "created": f"{client.now():.3f}",
        "lasts": store.KEPT_S,
        "selection": store.dumps(selection),
        "told": store.dumps({}),
        "who": asked.who,
        "address": asked.address,
        "note": asked.note,
        **{each: store.dumps(limit) for each, limit in limits.items()},
    }


def freeze_undo(
    client: Client, of: Operation, asked: Asked, picked: Sequence[tuple[int, str]] = ()
) -> Operation:
    """Make the draft of what undoes an operation.

    Args:
        client: whose jobs.
        of: the operation.
        asked: who wants it.
        picked: only these of its jobs, each with its place in the list; none: all.

    Raises:
        QlessError: Redis refused.

    """
    name = store.new_id()
    fields = asked_fields(client, "undo", asked, _undone(of))
    form = "picked" if picked else of_form(client, of)
    _draft(client, name, {**fields, "of": of.id, "form": form})
    if picked:
        entries = [f"{index}:{jid}" for index, jid in reversed(picked)]
        total, key = len(entries), store.list_key(client.keys, name)
        for start in range(0, total, _COPIED):
            part = entries[start : start + _COPIED]
            send(client, call("rpush", key, *part), call("expire", key, store.DRAFT_S))
    else:
        total = _whole(lambda: client.commands.operation_freeze_list(name, of.id))
    store.change(client, name, total=total, classes=store.dumps(dict(of.classes)))
    _expire(client, name)
    return loaded(client, name)


def _undone(of: Operation) -> dict[str, object]:
    """Tell what is undone: the operation, what it did and to which jobs."""
    return {"operation": of.id, "undoes": of.action, **of.selection}


def of_form(client: Client, of: Operation) -> str:
    """Say how the list of an operation is written."""
    (form,) = send(client, call("hget", store.hash_key(client.keys, of.id), "form"))
    return str(form or "jids")


def loaded(client: Client, name: str) -> Operation:
    """Read an operation that was there just now.

    Raises:
        BadArgument: it is gone.

    """
    found = store.load(client, name)
    if found is None:
        problem = f"There is no operation {name} any more."
        raise BadArgument(problem)
    return found


def look(client: Client, name: str, total: int, edits: Edits | None = None) -> Operation:
    """Look at all jobs of an operation, and note what it would do to them.

    Args:
        client: whose jobs.
        name: the operation.
        total: how many there are.
        edits: the new data of each, where it is an edit.

    Raises:
        QlessError: Redis could not be asked.

    """
    classes: Counter[str] = Counter()
    queues: Counter[str] = Counter()
    left: Counter[str] = Counter()
    sample: list[str] = []
    odd: list[tuple[str, str]] = []
    for start in range(0, total, _LOOKED_AT):
        unfit = edits.unfit(start, _LOOKED_AT) if edits else ()
        found = client.commands.operation_look(name, start, _LOOKED_AT, unfit)
        classes.update(found.classes)
        queues.update(found.queues)
        left.update(found.left)
        sample += found.sample
        odd += found.odd
    store.change(
        client,
        name,
        excluded=store.dumps(dict(left.most_common())),
        classes=store.dumps(dict(classes.most_common(100))),
        queues=store.dumps(dict(queues.most_common(100))),
        sample=store.dumps(sample[:_SHOWN]),
        odd=store.dumps(odd[:_SHOWN]),
    )
    return loaded(client, name)


def _draft(client: Client, name: str, fields: Mapping[str, object]) -> None:
    """Write a draft; where nobody goes on with it, it is gone after a while."""
    key, told = store.hash_key(client.keys, name), {each: str(fields[each]) for each in fields}
    send(client, call("hset", key, mapping=told), call("expire", key, store.DRAFT_S))


def _new_queue(client: Client, options: Options) -> dict[str, object]:
    """Note where jobs go into a queue that there is not yet: its name may be a slip."""
    if not options.queue:
        return {}
    (found,) = send(client, call("zscore", client.keys.queues, options.queue))
    return {} if found is not None else {"new_queue": options.queue}


def _form(selection: Selection, action: str, options: Options) -> dict[str, object]:
    if selection.group is None:
        return {"form": "jids"}
    before = {"before": f"{selection.asked:.6f}", "listed": ""} if selection.asked else {}
    named = action == "cancel" and options.dependents
    return {
        "form": "jids" if named else "group",
        "group": "" if named else selection.group,
        **before,
    }


def _list(  # noqa: PLR0913, PLR0917 - what an operation is made of
    client: Client,
    name: str,
    action: str,
    selection: Selection,
    options: Options,
    jids: Sequence[str],
    patterns: Sequence[str],
) -> int:
    """Write the list of an operation; answers how many jobs it has."""
    if selection.group is not None:
        total = _copied(client, name, selection)
        if not (action == "cancel" and options.dependents):
            return total
        jids = tuple(dict.fromkeys(_taken_off(client, store.list_key(client.keys, name))))
    if action != "cancel":
        return _added(client, name, jids)
    doomed, needed = waiting.order(client, jids, dependents=options.dependents, patterns=patterns)
    return max(_added(client, name, doomed), _added(client, name, needed, needed=True))


def _copied(client: Client, name: str, selection: Selection) -> int:
    """Copy the list of a failure group, a part at a time; answers how many jobs it has."""
    group = selection.group or ""
    commands = client.commands
    begun = commands.operation_freeze_group(
        name, group, selection.newest, selection.count, selection.asked
    )
    if begun.listed:
        store.change(client, name, listed="1")
    if begun.copied == begun.size:
        return begun.size
    more = partial(commands.operation_freeze_more, name, group, begun.size, begun.last)
    return _whole(more, begun.size)


def _whole(copy: Callable[[], int], size: int | None = None) -> int:
    """Copy more until no more come, or so many are there; answers how many are."""
    total, before = copy(), -1
    while total not in (before, size):
        total, before = copy(), total
    return total


def _taken_off(client: Client, key: str) -> Iterator[str]:
    """Give the entries of a list, the last ones first, and remove it."""
    start = 0
    while True:
        (found,) = send(client, call("lrange", key, -(start + _COPIED), -(start + 1)))
        if not found:
            break
        start += len(found)
        yield from reversed(found)
    send(client, call("unlink", key))


def _added(client: Client, name: str, jids: Sequence[str], *, needed: bool = False) -> int:
    total = 0
    for start in range(0, len(jids), _ADDED):
        chunk = jids[start : start + _ADDED]
        total = client.commands.operation_freeze(name, chunk, needed=needed)
    return total


def _expire(client: Client, name: str) -> None:
    keys = (store.hash_key(client.keys, name), store.list_key(client.keys, name))
    send(client, *(call("expire", key, store.DRAFT_S) for key in keys))
