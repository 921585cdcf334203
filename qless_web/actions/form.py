"""The fields that came with a request: read by name, refused with a sentence that names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qless_core.bulk import Seen
from qless_core.errors import BadArgument
from qless_web.formatting import untilde

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Beyond it the order among equal priorities is lost: a score has 53 bits for both.
HIGHEST_PRIORITY = 1_000_000

_LONGEST_NUMBER = 12


def spellings(text: str) -> tuple[str, ...]:
    r"""Give what a text may have been before a browser sent CR LF for each end of a line.

    >>> spellings("mail"), spellings("a\r\nb")
    (('mail',), ('a\r\nb', 'a\nb', 'a\rb'))
    """
    found = (text, text.replace("\r\n", "\n"), text.replace("\r\n", "\r"))
    return tuple(dict.fromkeys(found))


def one_line(text: str) -> str:
    r"""Give what is left of a text in a field of one line, where browsers drop the ends of lines.

    >>> one_line("a\r\nb")
    'ab'
    """
    return text.replace("\r", "").replace("\n", "")


class Form:
    """Form fields, each with one value or several.

    Args:
        fields: the values by name, in order.
        patient: whether whoever sent it waits for the end, however long it takes.
        guarded: whether only what was shown is acted on, and only in the state it was shown in.

    """

    def __init__(
        self,
        fields: Mapping[str, Sequence[str]] | None = None,
        *,
        patient: bool = False,
        guarded: bool = True,
    ) -> None:
        self._fields = dict(fields or {})
        self.patient = patient
        self.guarded = guarded

    def all(self, name: str) -> tuple[str, ...]:
        """Give every value of a field that is not empty."""
        return tuple(value for value in self._fields.get(name, ()) if value)

    def get(self, name: str) -> str:
        """Give the value of a field; "" when it was not sent."""
        return next(iter(self._fields.get(name, ())), "")

    def has(self, name: str) -> bool:
        """Say whether a field came along, empty or not."""
        return bool(self._fields.get(name))

    def text(self, name: str, what: str) -> str:
        """Give the value of a field that must be there.

        Args:
            name: the field.
            what: what it is, for the reader of the refusal: "the queue to move to".

        Raises:
            BadArgument: it is missing, or blank.

        """
        value = self.get(name)
        if not value.strip():
            problem = f"The field “{name}” is missing: {what}."
            raise BadArgument(problem)
        return value

    def whole(self, name: str) -> int | None:
        """Give a whole number; None when the field is missing or holds no such number."""
        digits = re.sub(r"[ ,.\u00a0\u202f]", "", self.get(name))
        if not re.fullmatch(r"-?[0-9]+", digits) or len(digits) > _LONGEST_NUMBER:
            return None
        return int(digits)

    def targets(self) -> list[tuple[str, str]]:
        """Give names with what was shown beside each, as `ask_jobs.target` wrote them.

        Raises:
            BadArgument: a value is no such pair.

        """
        found = [value.rpartition(":") for value in self.all("targets")]
        if any(not colon for _, colon, _ in found):
            problem = "The field “targets” is not as this console wrote it; nothing was done."
            raise BadArgument(problem)
        return [(untilde(written), shown) for written, _, shown in found]

    def seen(self) -> dict[str, Seen]:
        """Give the failure groups as a question showed them, as `ask_failures.seen` wrote them.

        Raises:
            BadArgument: a value is not of that form.

        """
        try:
            moment = float(self.get("asked") or 0)
            found = [value.split(":") for value in self.all("seen")]
            return {
                untilde(group): Seen(int(count), untilde(newest), moment)
                for group, newest, count in found
            }
        except ValueError:
            problem = "The field “seen” is not as this console wrote it; nothing was done."
            raise BadArgument(problem) from None

    def priority(self) -> int:
        """Give the field `priority`.

        Raises:
            BadArgument: it is no whole number that a priority can be.

        """
        text = self.text("priority", "a whole number; the higher, the sooner").strip()
        if re.fullmatch(r"[-+]?[0-9]{1,7}", text) and abs(int(text)) <= HIGHEST_PRIORITY:
            return int(text)
        problem = (
            f"“{text[:40]}” is no priority: it must be a whole number"
            f" from -{HIGHEST_PRIORITY:,} to {HIGHEST_PRIORITY:,}."
        )
        raise BadArgument(problem)

    def tags(self) -> tuple[str, ...]:
        """Give the values of the field `tag`, each a tag as it is; blank ones are left out.

        Raises:
            BadArgument: there is none.

        """
        found = tuple(value for value in self.all("tag") if value.strip())
        if not found:
            problem = "The field “tag” is missing: a tag that is not blank."
            raise BadArgument(problem)
        return found
