"""The file of users: a line for each, with name, role, password and what the role is limited to.

    dana admin scrypt:15:8:3:…
    erik operator scrypt:15:8:3:… queues=mail*,sms actions=retry_*
    ci@example.com viewer -

A `-` is somebody whom a proxy or a provider signs in. The file is read again when it has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast

from qless_web.access import ROLES, Grant, Role, strangers
from qless_web.accounts import passwords
from qless_web.settings import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

log = logging.getLogger("qless.web.accounts")

#: In place of a password: a proxy or a provider signs this one in.
ELSEWHERE = "-"

_NAME = re.compile(r"[A-Za-z0-9._@+-]{1,128}")
_LIMIT = re.compile(r"(queues|actions)=([^\s,]+(?:,[^\s,]+)*)")


def is_name(name: str) -> bool:
    """Say whether somebody may be called so."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class User:
    """One line of the file. `password` is never shown."""

    name: str
    grant: Grant
    password: str = field(default=ELSEWHERE, repr=False)

    @property
    def mark(self) -> str:
        """Give what tells this password from the next one, and nothing about it."""
        return hashlib.sha256(self.password.encode()).hexdigest()[:16]

    @property
    def line(self) -> str:
        """Write the line."""
        limits = [
            f"{name}={','.join(values)}"
            for name, values in (("queues", self.grant.queues), ("actions", self.grant.actions))
            if values
        ]
        return " ".join([self.name, self.grant.role, self.password, *limits])

    @classmethod
    def read(cls, line: str, where: str) -> User:
        """Read a line.

        Raises:
            SettingError: it makes no sense. It is never quoted: it may hold a password.

        """
        name, role, password, *limits = [*line.split(), "", "", ""][: max(3, len(line.split()))]
        found = [_LIMIT.fullmatch(limit) for limit in limits if limit]
        fine = is_name(name) and role in ROLES and all(found)
        if not fine or not (password == ELSEWHERE or passwords.is_one(password)):
            message = (
                f"{where}: must be a name, viewer, operator or admin, a password that "
                "qless-web user wrote or -, and perhaps queues=… and actions=…"
            )
            raise SettingError(message)
        told = {match[1]: tuple(match[2].split(",")) for match in found if match}
        grant = Grant(cast("Role", role), told.get("queues", ()), told.get("actions", ()))
        return cls(name, grant, password)


class Users:
    """Those who may sign in.

    Args:
        place: the file.

    Raises:
        SettingError: it cannot be read, or a line makes no sense.

    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = Lock()
        self._read_at = _stamp(place)
        self._known = _told(read(place))

    def find(self, name: str) -> User | None:
        """Find somebody, as the file says now."""
        stamp = _stamp(self._place)
        if stamp != self._read_at:
            self._read_again(stamp)
        return self._known.get(name)

    @property
    def has_passwords(self) -> bool:
        """Whether anybody can sign in with one."""
        return not self._known or any(user.password != ELSEWHERE for user in self._known.values())

    def _read_again(self, stamp: object) -> None:
        with self._lock:
            if stamp == self._read_at:
                return
            self._read_at = stamp
            try:
                self._known = _told(read(self._place))
            except SettingError as error:
                # Those who were known stay so: nobody is let in by a file that is half written.
                log.error("the users are those from before: %s", error)  # noqa: TRY400 - it says all


def _told(users: Mapping[str, User]) -> Mapping[str, User]:
    """Say in the log who is limited to actions that there are not: a file outlives a version."""
    for user in users.values():
        if unknown := strangers(user.grant.actions):
            log.warning("%s is limited to %s, and no action is called so", user.name, unknown)
    return users


def read(place: Path) -> Mapping[str, User]:
    """Read a file of users.

    Raises:
        SettingError: it cannot be read, or a line makes no sense.

    """
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"users_file cannot be read: {error}"
        raise SettingError(message) from None
    found: dict[str, User] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        user = User.read(line, f"{place}, line {number}")
        if user.name in found:
            message = f"{place}, line {number}: there are two users named {user.name}"
            raise SettingError(message)
        found[user.name] = user
    return found


def write(place: Path, users: Iterable[User]) -> None:
    """Write a file of users, whole or not at all, for its owner alone; comments are lost.

    Raises:
        SettingError: it cannot be written.

    """
    text = "".join(f"{user.line}\n" for user in users)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(place)
        except OSError:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        message = f"{place} cannot be written: {error.strerror}"
        raise SettingError(message) from None


def _stamp(place: Path) -> object:
    """Give what changes when the file does; None where there is none."""
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
