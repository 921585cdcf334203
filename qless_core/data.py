"""The data of a job, which may be changed in place and must not change by being read."""

from __future__ import annotations

from typing import Any

from qless_core import wire


class JobData:
    """The data of a job: the JSON text as it is stored, and the value made of it when asked for.

    A value that was changed in place is noticed; one that was not is sent on byte for byte, with
    every digit that Python's floats would lose.
    """

    __slots__ = ("_is_read", "_print", "_text", "_value")

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_read = False
        self._value: Any = None
        self._print = ""

    @property
    def value(self) -> Any:  # noqa: ANN401 - job data is any JSON
        """The value, the same object each time.

        Raises:
            ValueError: the stored text is not JSON.

        """
        if not self._is_read:
            self._value = wire.loads(self._text)
            self._print = wire.fingerprint(self._value)
            self._is_read = True
        return self._value

    @value.setter
    def value(self, value: Any) -> None:  # noqa: ANN401 - job data is any JSON
        self._value = value
        self._print = ""
        self._is_read = True

    @property
    def is_changed(self) -> bool:
        """Whether the value is another one than the text says."""
        return self._is_read and wire.fingerprint(self._value) != self._print

    def text(self) -> str:
        """Give the text to send.

        Raises:
            BadArgument: the value was changed to something that JSON cannot say.

        """
        return wire.dumps(self._value) if self.is_changed else self._text

    def forget_changes(self) -> None:
        """Go back to what the text says."""
        self._is_read = False

    def sent(self, text: str) -> None:
        """Take note that this is what Redis holds now."""
        self._text = text
        if self._is_read:
            self._print = wire.fingerprint(self._value)
