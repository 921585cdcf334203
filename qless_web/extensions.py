"""What a host application adds to the console: columns, links, panels, formatters, redaction.

`create_app(client, extensions=Extensions(...))`. Each hook is an ordinary function of the host. One
that raises breaks no page: the log has the traceback, the page a small note in its place.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from qless_core import nesting
from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

log = logging.getLogger("qless.web.extensions")

#: What stands where a hook raised.
FAILED = "failed: see the log"

#: What stands where data would, when the redaction hook raised: nothing is shown then.
WITHHELD = '"[withheld: the redaction hook failed]"'

#: What stands in the place of a value that `hide` hides.
HIDDEN = "[hidden]"

#: What a link may name of a job; of a queue, `queue` alone.
PLACES = ("jid", "klass", "queue", "state", "worker", "group")

#: Digits of a whole number that is read as an int.
_MOST_DIGITS = 4_000

_PLACE = re.compile(r"\{(\w*)\}")


class ExtensionError(ValueError):
    """Raised when an extension makes no sense; the message says which, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A job as hooks are given it.

    Attributes:
        jid: its jid.
        klass: its class.
        queue: the queue it is in, or was in last.
        state: as the console shows it; "" where it is gone.
        worker: who holds it; "" for nobody.
        group: the failure group; "" where it did not fail.
        tags: its tags.
        priority: its priority.
        data: its data as it may be shown, on its own page; None in lists, which do not read it, and
            where it is too large.

    """

    jid: str
    klass: str = ""
    queue: str = ""
    state: str = ""
    worker: str = ""
    group: str = ""
    tags: tuple[str, ...] = ()
    priority: int = 0
    data: Any = None


@dataclass(frozen=True, slots=True)
class Column:
    """One more column of every list of jobs.

    Attributes:
        heading: what stands above it.
        text: what stands in it for a job, "" for nothing. It is called for each row: it must be
            quick, and ask no other machine.

    """

    heading: str
    text: Callable[[Seen], str]


@dataclass(frozen=True, slots=True)
class Outside:
    """A link to another system, on the page of each job or of each queue.

    Attributes:
        text: what it says.
        url: where it leads: http or https, with places such as `{jid}` and `{queue}` in it, which
            are filled in so that they end nothing and begin nothing.
        of: `job` or `queue`.

    Raises:
        ExtensionError: the address is no such address, or names a place that there is not.

    """

    text: str
    url: str
    of: str = "job"

    def __post_init__(self) -> None:
        known = {"job": PLACES, "queue": ("queue",)}.get(self.of)
        if known is None:
            raise ExtensionError(_no(self, f"of must be 'job' or 'queue', not {self.of!r}"))
        for name in _PLACE.findall(self.url):
            if name not in known:
                raise ExtensionError(_no(self, f"{{{name}}} is none of {', '.join(known)}"))
        parts = urlsplit(_PLACE.sub("x", self.url))
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ExtensionError(_no(self, f"{self.url!r} is no http or https address"))
        if _PLACE.search(f"{urlsplit(self.url).scheme}{urlsplit(self.url).netloc}"):
            raise ExtensionError(_no(self, "the host must not come from a job"))

    def filled(self, values: Mapping[str, str]) -> str:
        """Give the address for a job or a queue."""
        return _PLACE.sub(lambda found: _quoted(values[found[1]]), self.url)


def _quoted(value: str) -> str:
    return quote(value.encode(errors="surrogateescape"), safe="")


def _no(link: Outside, why: str) -> str:
    return f"the link {link.text!r} makes no sense: {why}"


#: What a panel shows: a text, or pairs of a term and its value.
Content = str | Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel on the page of each job.

    Attributes:
        title: its heading.
        content: what it shows of a job: text, or pairs of a term and its value; "" or nothing for
            no panel. All of it is escaped.

    """

    title: str
    content: Callable[[Seen], Content]


@dataclass(frozen=True, slots=True)
class Told:
    """A panel as a page shows it."""

    title: str
    text: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """Everything that a host application adds.

    Attributes:
        columns: more columns of lists of jobs.
        links: links to other systems.
        panels: panels on the page of a job.
        formatters: by the name of a key in the data: says a value in words, beside the value.
        redact: given the class of a job and its data, answers the data as it may be shown. Numbers
            with a point come as `Decimal`, with all their digits; what is no JSON comes as text.
            Where it raises, nothing of the data is shown.

    """

    columns: Sequence[Column] = ()
    links: Sequence[Outside] = ()
    panels: Sequence[Panel] = ()
    formatters: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    redact: Callable[[str, Any], Any] | None = None

    # Data, as it may be shown

    def shown(self, klass: str, text: str) -> str:
        """Give the data of a job as it may be shown: the same text where nothing is hidden."""
        if self.redact is None:
            return text
        try:
            value, is_exact = _read(text)
            before = _write(value)
            after = _write(self.redact(klass, value))
        except Exception:
            log.exception("the redaction hook failed on data of %s: all of it is withheld", klass)
            return WITHHELD
        return text if is_exact and after == before else after

    @property
    def hiding(self) -> Callable[[str, str], str] | None:
        """What hides data, as `shown`; None where nothing does."""
        return self.shown if self.redact else None

    def said(self, key: str, text: str) -> str:
        """Say a value of the data in words, beside it; "" where nobody says more.

        Args:
            key: the name that it has in its object.
            text: the value, as JSON.

        """
        formatter = self.formatters.get(key)
        if formatter is None:
            return ""
        return _tried(f"the formatter of {key!r}", FAILED, _said, formatter, text)

    # Lists and pages

    def cells(self, seen: Seen) -> tuple[str, ...]:
        """Give the cells of the added columns for one job."""
        return tuple(
            _tried(f"the column {each.heading!r}", FAILED, _cell, each, seen)
            for each in self.columns
        )

    def job_links(self, seen: Seen) -> tuple[tuple[str, str], ...]:
        """Give text and address of the links of a job."""
        values = {name: str(getattr(seen, name)) for name in PLACES}
        return tuple((each.text, each.filled(values)) for each in self.links if each.of == "job")

    def queue_links(self, queue: str) -> tuple[tuple[str, str], ...]:
        """Give text and address of the links of a queue."""
        links = (each for each in self.links if each.of == "queue")
        return tuple((each.text, each.filled({"queue": queue})) for each in links)

    def told(self, seen: Seen, data: str | None = None) -> tuple[Told, ...]:
        """Give the panels of a job that have something to say.

        Args:
            seen: the job.
            data: its data, as it may be shown; None where it is too large.

        """
        if data is not None:
            seen = replace(seen, data=_read(data)[0])
        found = (
            _tried(
                f"the panel {each.title!r}",
                Told(each.title, FAILED, failed=True),
                _panel,
                each,
                seen,
            )
            for each in self.panels
        )
        return tuple(each for each in found if each.text or each.pairs)


#: What a console has that nobody extends.
NONE = Extensions()


def hide(*names: str) -> Callable[[str, Any], Any]:
    """Make a redaction hook that hides the values of some keys, at any depth.

    >>> hide("password")("shop.Login", {"user": "kim", "Password": "x", "more": [{"password": 1}]})
    {'user': 'kim', 'Password': '[hidden]', 'more': [{'password': '[hidden]'}]}

    Data that is a text, or no JSON, is hidden as a whole where such a name is in it.

    Args:
        names: of keys, in small or capital letters.

    """
    hidden = {name.casefold() for name in names}

    def redact(_klass: str, value: Any) -> Any:  # noqa: ANN401 - job data is any JSON
        """Go down without recursion: data may be nested deeply."""
        if isinstance(value, str) and any(name in value.casefold() for name in hidden):
            return HIDDEN
        open_: list[Any] = [value]
        while open_:
            found = open_.pop()
            if isinstance(found, dict):
                for key in found:
                    if key.casefold() in hidden:
                        found[key] = HIDDEN
                open_ += found.values()
            elif isinstance(found, list):
                open_ += found
        return value

    return redact


def _said(formatter: Callable[[Any], str], text: str) -> str:
    return str(formatter(_read(text)[0]))


def _cell(column: Column, seen: Seen) -> str:
    return str(column.text(seen))


def _panel(panel: Panel, seen: Seen) -> Told:
    content = panel.content(seen)
    if isinstance(content, str):
        return Told(panel.title, content)
    return Told(panel.title, pairs=tuple((str(term), str(value)) for term, value in content))


def _tried(what: str, instead: T, act: Callable[..., T], *given: Any) -> T:  # noqa: ANN401 - what the hook takes
    """Call a hook; where it raises, the log has the traceback."""
    try:
        return act(*given)
    except Exception:
        log.exception("%s failed", what)
        return instead


def _read(text: str) -> tuple[Any, bool]:
    """Read data with all its digits; what is no JSON stays text.

    Returns:
        The value, and whether it has all that the text has: of a key that is there twice a hook
        sees the last one alone, and is not to let the other pass unseen.

    """
    twice: list[str] = []

    def an_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.append("")
        return found

    try:
        value = json.loads(
            text,
            parse_float=Decimal,
            parse_int=_whole,
            parse_constant=Decimal,
            object_pairs_hook=an_object,
        )
    except RecursionError:
        return nesting.read(text), False
    except ValueError:
        return text, True
    return value, not twice


def _whole(digits: str) -> int | Decimal:
    """Read a whole number; Python makes no int of very many digits."""
    return int(digits) if len(digits) <= _MOST_DIGITS else Decimal(digits)


def _write(value: Any) -> str:  # noqa: ANN401 - whatever the hook gives
    return nesting.write(value, _scalar)


def _scalar(value: Any) -> str:  # noqa: ANN401 - whatever the hook gives
    if isinstance(value, Decimal):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        message = f"it answered what is no JSON: {error}"
        raise BadArgument(message) from error
