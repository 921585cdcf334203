"""The small parts of pages that lists hold by the hundred: functions, where others are macros.

Each macro costs its call, and its text is escaped once more where it is printed: a fifth of a page
of 100 rows. The templates `badges.html` and `time.html` give these to the pages, and say what each
is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import g
from jinja2 import pass_context
from markupsafe import Markup, escape

from qless_web import formatting
from qless_web.addresses import href
from qless_web.remembered import preferences
from qless_web.static_files import asset

if TYPE_CHECKING:
    from jinja2.runtime import Context

    from qless_web.presenters.page import Link

#: What somebody named may be written in any script, and is not ours to translate. A name that is
#: written from the right there moves nothing of the line around it.
VERBATIM: Final = Markup('translate="no" dir="auto"')

_DASH: Final = Markup('<span class="none">{}</span>').format(formatting.UNKNOWN)


def finalize(value: Any) -> Any:  # noqa: ANN401 - whatever a template prints
    """Make what is printed printable: bytes that are no UTF-8 are shown as such, never an error."""
    return formatting.printable(value) if type(value) is str and not value.isascii() else value


def text(value: object) -> Markup:
    """Write what is no HTML."""
    return escape(finalize(value))


def _drawn(html: str) -> Markup:
    """Give what was drawn: each part of it that is not ours went through `text` or `escape`."""
    return Markup(html)  # noqa: S704 - as it says


def dash() -> Markup:
    """Draw that nothing is known."""
    return _DASH


def icon(name: str, label: str = "") -> Markup:
    """Draw an icon of the sprite; with a label it speaks, without one it is decoration."""
    kept: dict[tuple[str, str], Markup] = g.setdefault("qless_icons", {})
    if (name, label) not in kept:
        said = f'role="img" aria-label="{text(label)}"' if label else 'aria-hidden="true"'
        # A state that is stored may be anything.
        there = f"{escape(asset('icons.svg'))}#{text(name)}"
        kept[name, label] = _drawn(
            f'<svg class="icon" {said} width="16" height="16"><use href="{there}"></use></svg>'
        )
    return kept[name, label]


def state(name: str, paused: bool = False) -> Markup:  # noqa: FBT001, FBT002 - as templates have it
    """Draw a job's state: icon, word and colour."""
    shown, data = text(name), " data-paused" if paused else ""
    return _drawn(f'<span class="badge" data-state="{shown}"{data}>{icon(name)}{shown}</span>')


def klass(name: str) -> Markup:
    """Draw a job's class."""
    return _drawn(f'<span class="klass" {VERBATIM}>{text(name)}</span>')


def jid(jid: str) -> Markup:
    """Draw a shortened jid, whole in its title."""
    short = formatting.short_jid(jid)
    return _drawn(f'<code translate="no" class="jid" title="{text(jid)}">{text(short)}</code>')


def number(n: int | None, state: str = "", glow: bool = False) -> Markup:  # noqa: FBT001, FBT002 - as templates have it
    """Draw a count."""
    data = " data-zero" if not n else f' data-state="{text(state)}"' if state else ""
    shown = formatting.count(n)
    return _drawn(f'<span class="number"{data}{" data-glow" if glow else ""}>{shown}</span>')


def named(name: str, link: Link | None) -> Markup:
    """Draw a name, with its address where it has a page; a dash for none."""
    if not name:
        return _DASH
    shown = text(name)
    if link is None:
        return _drawn(f'<span title="{shown}" {VERBATIM}>{shown}</span>')
    there = escape(href(link))
    return _drawn(f'<a class="quiet" href="{there}" title="{shown}" {VERBATIM}>{shown}</a>')


def chip(tag: str, link: Link | None = None) -> Markup:
    """Draw a tag."""
    if link is None:
        return _drawn(f'<span class="chip" {VERBATIM}>{text(tag)}</span>')
    return _drawn(f'<a class="chip" href="{escape(href(link))}" {VERBATIM}>{text(tag)}</a>')


def tracked() -> Markup:
    """Draw the mark of a tracked job."""
    return _drawn(f'<span class="tracked" title="tracked">{icon("tracked", "tracked")}</span>')


def words(sentence: str) -> Markup:
    """Write a sentence: the names that are marked in it are not for those who translate pages."""
    if formatting.ISOLATED.search(sentence) is None:
        return text(sentence)
    parts = formatting.ISOLATED.split(sentence)
    written = [str(text(part)) for part in parts]
    written[1::2] = [f'<bdi translate="no">{part}</bdi>' for part in written[1::2]]
    return _drawn("".join(written))


@pass_context
def when(context: Context, at: float | None, word: str = "") -> Markup:
    """Draw how long ago an instant was."""
    return _time(context, at, word, "past")


@pass_context
def due(context: Context, at: float | None, word: str = "") -> Markup:
    """Draw in how long an instant comes."""
    return _time(context, at, word, "future")


def _time(context: Context, at: float | None, word: str, kind: str) -> Markup:
    if at is None:
        return _DASH
    now = context["frame"].now
    said = f'<span class="when-word">{text(word)}</span> ' if word else ""
    title = text(formatting.moment(at, preferences().zone_name))
    shown = formatting.ago(at, now) if kind == "past" else formatting.until(at, now)
    return _drawn(
        f'{said}<time class="when" datetime="{formatting.iso(at)}" title="{title}"'
        f' data-behavior="relative-time" data-relative="{kind}">{shown}</time>'
    )


#: As templates name them.
BY_NAME: Final = {
    each.__name__: each
    for each in (chip, dash, due, jid, klass, named, number, state, tracked, when)
}
