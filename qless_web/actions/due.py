"""When jobs are to be due, as forms and programs say it: from now on, or at a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_core.errors import BadArgument
from qless_web.actions import timing
from qless_web.actions.field import DATE, Field
from qless_web.formatting import absolute, duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.actions.form import Form

#: What programs send; a form has the two in fields of their own, `delay` and `at`.
WHEN = Field(
    name="when",
    form="delay",
    help="How long from now: seconds, as text, or a time such as `90s`, `15m`, `2h`, `1d`. Or the "
    "moment: a date and time, in UTC unless it names an offset.",
    pattern=rf"^(?:[0-9]{{1,5}}(?:s|m|min|h)?|[0-9]{{1,3}}[dw]|{DATE})$",
    example="15m",
)


def when(form: Form) -> Mapping[str, Any]:
    """Read when that is: `delay_s` in seconds, or `at` in epoch seconds; neither where none is.

    Raises:
        BadArgument: it makes no sense, or both are given.

    """
    delay, at = form.get("delay").strip(), form.get("at").strip()
    if delay and at:
        problem = "Say either how long from now, or the moment."
        raise BadArgument(problem)
    if at or timing.is_moment(delay):
        return {"at": timing.moment(at or delay)}
    return {"delay_s": timing.seconds(delay, "delay")} if delay else {}


def told(when: Mapping[str, Any]) -> str:
    """Say when that is."""
    if "at" in when:
        return f"at {absolute(when['at'])}"
    return f"in {duration(when['delay_s'])}"
