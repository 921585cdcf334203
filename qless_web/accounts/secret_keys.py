"""The keys that sign sessions: from the settings, or from a file that all processes here share."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from qless_web.settings import SettingError

if TYPE_CHECKING:
    from pathlib import Path

#: Characters of a key: fewer are guessed.
SHORTEST = 32


def keys(told: tuple[str, ...], place: Path) -> tuple[str, ...]:
    """Give the keys; the first signs, all are good to check with.

    Args:
        told: what the settings say; the file counts where they say nothing.
        place: a file with a key a line; it is made, with one, where there is none.

    Raises:
        SettingError: a key is too short, or the file cannot be read or made.

    """
    found = told or _of_file(place)
    if any(len(key) < SHORTEST for key in found):
        message = f"each of the secret_keys must have {SHORTEST} characters or more"
        raise SettingError(message)
    return found


def _of_file(place: Path) -> tuple[str, ...]:
    try:
        if not place.exists():
            _make(place)
        lines = place.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        message = (
            f"{place}, the key that signs sessions, cannot be read or made ({error}): "
            "give one as secret_keys"
        )
        raise SettingError(message) from None
    if not lines:
        message = f"{place} holds no key"
        raise SettingError(message)
    return tuple(lines)


def _make(place: Path) -> None:
    """Make the file, for its owner alone; of several processes that do so at once, one does."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123 - a descriptor
        file.write(f"{secrets.token_urlsafe(48)}\n")
    try:
        with contextlib.suppress(FileExistsError):
            place.hardlink_to(draft)
    finally:
        draft.unlink()
