"""Templates, compiled once in a process, however many consoles it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jinja2 import BytecodeCache

if TYPE_CHECKING:
    from types import CodeType

    from jinja2.bccache import Bucket


class _Shared(BytecodeCache):
    """Keeps the code of each template, for the very source that it was made from only."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its code, where that is known."""
        checksum, code = self._kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        if bucket.code is not None:
            self._kept[bucket.key] = (bucket.checksum, bucket.code)


#: What all consoles of this process share: they differ in no option that code is made by.
SHARED: Final = _Shared()
