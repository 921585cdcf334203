"""A row of a list of jobs: what pages hold most of, and so drawn by a function, as `cells` are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jinja2 import pass_context
from markupsafe import Markup, escape

from qless_web import cells, formatting
from qless_web.addresses import href
from qless_web.cells import VERBATIM, text
from qless_web.extended import cells as extra_cells
from qless_web.menus import row_menu

if TYPE_CHECKING:
    from collections.abc import Collection

    from jinja2.runtime import Context

    from qless_web.menus import Draw
    from qless_web.presenters.rows import JobRow

#: Characters of a cell that the host application adds.
_WIDTH: Final = 60


@pass_context
def job_row(
    context: Context, row: JobRow, columns: Collection[str], menu: Draw, *, ticks: bool
) -> Markup:
    """Draw a row.

    Args:
        context: that of the template.
        row: what stands in it.
        columns: which there are, beside the job itself and its menu.
        menu: the macro that draws a menu.
        ticks: whether it can be ticked.

    """
    gone = " data-gone" if row.gone else ""
    drawn = [f'<tr id="job-{text(formatting.tilde(row.jid))}" class="row"{gone}>']
    if ticks:
        drawn.append(f'<td class="cell-tick">{"" if row.gone else _box(row)}</td>')
    drawn.append(f'<td class="cell-main">{_job(row)}</td>')
    drawn.extend(draw(context, row) for name, draw in _FIRST.items() if name in columns)
    drawn.extend(f'<td class="cell-extra">{_added(each)}</td>' for each in extra_cells(row))
    drawn.extend(draw(context, row) for name, draw in _LAST.items() if name in columns)
    actions = row_menu(menu, row.actions, "jid", row.jid, formatting.short_jid(row.jid))
    drawn.append(f'<td class="cell-menu">{actions}</td></tr>\n')
    return Markup("".join(drawn))  # noqa: S704 - each part was drawn, or went through `text`


def _box(row: JobRow) -> str:
    label = f"Tick {row.klass} {formatting.short_jid(row.jid)}"
    return (
        f'<input type="checkbox" name="jids" value="{text(row.jid)}" form="ticked"'
        f' aria-label="{text(label)}">'
    )


def _job(row: JobRow) -> str:
    klass = f"{cells.klass(row.klass)} " if row.klass else ""
    tracked = f" {cells.tracked()}" if row.tracked else ""
    said = "no longer there" if row.gone else cells.words(row.note)
    note = f' <span class="row-note">{said}</span>' if said else ""
    there = escape(href(row.link))
    return f'<a class="row-link" href="{there}">{klass}{cells.jid(row.jid)}</a>{tracked}{note}'


def _state(_: Context, row: JobRow) -> str:
    return f'<td class="cell-state">{cells.state(row.state) if row.state else cells.dash()}</td>'


def _queue(_: Context, row: JobRow) -> str:
    return f'<td class="cell-queue">{cells.named(row.queue, row.queue_link)}</td>'


def _worker(_: Context, row: JobRow) -> str:
    return f'<td class="cell-worker">{cells.named(row.worker, row.worker_link)}</td>'


def _tags(_: Context, row: JobRow) -> str:
    chips = "".join(cells.chip(tag, link) for tag, link in row.tags)
    return f'<td class="cell-extra cell-tags" data-from="wide">{chips}</td>'


def _priority(_: Context, row: JobRow) -> str:
    return f'<td class="cell-number cell-extra">{cells.number(row.priority)}</td>'


def _retries(_: Context, row: JobRow) -> str:
    shown: str = cells.dash()
    if row.retries is not None and row.remaining is not None:
        zero = " data-zero" if row.remaining == row.retries else ""
        of = f'<span class="of"> of {row.retries}</span>'
        shown = f'<span class="number"{zero}>{max(row.remaining, 0)}{of}</span>'
    return f'<td class="cell-number cell-extra">{shown}</td>'


def _at(context: Context, row: JobRow) -> str:
    is_ahead = row.at is not None and row.at > context["frame"].now
    shown = (cells.due if is_ahead else cells.when)(context, row.at, row.at_word)
    return f'<td class="cell-time">{shown}</td>'


def _added(cell: str) -> str:
    if not cell:
        return cells.dash()
    return f'<span title="{text(cell)}" {VERBATIM}>{text(formatting.head(cell, _WIDTH))}</span>'


#: The columns before and after those that the host application adds.
_FIRST: Final = {"state": _state, "queue": _queue, "worker": _worker, "tags": _tags}
_LAST: Final = {"priority": _priority, "retries": _retries, "at": _at}
