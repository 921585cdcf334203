"""`qless-web user`: who may sign in. The file is written whole, and read by a console that runs."""

from __future__ import annotations

import getpass
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from qless_core.command_line import Parser
from qless_web.access import DECLARED, ROLES, Grant, strangers
from qless_web.accounts.passwords import hashed
from qless_web.accounts.users import ELSEWHERE, User, is_name, read, write
from qless_web.settings import SettingError, Settings, state_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

_PATTERN = re.compile(r"[^\s,=]+")


def order(argv: Sequence[str]) -> int:
    """Do what the command was told.

    Args:
        argv: what came after `user`.

    Returns:
        The exit code.

    Raises:
        SettingError: what was told makes no sense, or the file cannot be read or written.

    """
    told = _parser().parse_args(argv)
    place = Settings.from_env(**({"users_file": told.users_file} if told.users_file else {}))
    users = place.users_file or state_folder() / "users"
    match told.verb:
        case "add":
            _add(users, told)
        case "change":
            _change(users, told)
        case "passwd":
            _passwd(users, told.name)
        case "remove":
            _remove(users, told.name)
        case "list":
            _list(users)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="qless-web user",
        description="Say who may sign in to the console.",
        epilog="The console is told of the file by --users-file; yes is the usual one.",
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    add = verbs.add_parser("add", help="let somebody in; the password is asked for, or read")
    add.add_argument("--role", choices=ROLES, default="viewer", help="viewer unless given")
    add.add_argument("--queues", default="", help="patterns of queues, as mail*,sms; else all")
    add.add_argument("--actions", default="", help="patterns of actions, as retry_*; else all")
    add.add_argument(
        "--no-password", action="store_true", help="a proxy or a provider signs this one in"
    )
    change = verbs.add_parser("change", help="say anew what somebody may do; the password stays")
    change.add_argument("--role", choices=ROLES, help="as it is unless given")
    change.add_argument("--queues", help='patterns of queues; "" for all; as they are unless given')
    change.add_argument("--actions", help='patterns of actions; "" for all; as they are likewise')
    passwd = verbs.add_parser("passwd", help="give somebody another password")
    remove = verbs.add_parser("remove", help="let somebody in no more")
    listing = verbs.add_parser("list", help="say who may sign in, and as what")
    for verb in (add, change, passwd, remove):
        verb.add_argument("name", metavar="NAME")
    for verb in (add, change, passwd, remove, listing):
        verb.add_argument("--users-file", metavar="FILE", help="file of users; else the usual one")
    return parser


def _add(place: Path, told: argparse.Namespace) -> None:
    if not is_name(told.name):
        message = "a name has letters, digits and ._@+- and at most 128 of them"
        raise SettingError(message)
    known = _known(place)
    if told.name in known:
        message = f"{told.name} is there already; change or passwd is for who is there"
        raise SettingError(message)
    limits = _patterns("queues", told.queues), _actions(told.actions)
    grant = Grant(told.role, *limits)
    password = ELSEWHERE if told.no_password else hashed(_password())
    write(place, [*known.values(), User(told.name, grant, password)])
    _say(f"{told.name} is {told.role} from now on, in {place}")


def _change(place: Path, told: argparse.Namespace) -> None:
    given = {
        "role": told.role,
        "queues": None if told.queues is None else _patterns("queues", told.queues),
        "actions": None if told.actions is None else _actions(told.actions),
    }
    anew = {name: value for name, value in given.items() if value is not None}
    if not anew:
        message = "say what changes: --role, --queues or --actions"
        raise SettingError(message)
    known = _known(place)
    user = _one(known, told.name, place)
    grant = replace(user.grant, **anew)
    write(place, {**known, told.name: replace(user, grant=grant)}.values())
    _say(f"{told.name} is {grant.role} from now on, in {place}")


def _passwd(place: Path, name: str) -> None:
    known = _known(place)
    user = _one(known, name, place)
    write(place, {**known, name: replace(user, password=hashed(_password()))}.values())
    _say(f"{name} has another password from now on; every session of theirs has ended")


def _remove(place: Path, name: str) -> None:
    known = _known(place)
    _one(known, name, place)
    write(place, [user for user in known.values() if user.name != name])
    _say(f"{name} may not sign in any more")


def _list(place: Path) -> None:
    for user in _known(place).values():
        limits = " ".join(user.line.split()[3:])
        way = " signed in elsewhere" if user.password == ELSEWHERE else ""
        _say(f"{user.name} {user.grant.role}{way}{' ' if limits else ''}{limits}")


def _known(place: Path) -> dict[str, User]:
    return dict(read(place)) if place.exists() else {}


def _one(known: dict[str, User], name: str, place: Path) -> User:
    if name not in known:
        message = f"there is no user {name!r} in {place}"
        raise SettingError(message)
    return known[name]


def _patterns(what: str, text: str) -> tuple[str, ...]:
    found = tuple(part for part in text.split(",") if part)
    if any(not _PATTERN.fullmatch(part) for part in found):
        message = f"{what} are patterns without blanks, with commas between; ? stands for a blank"
        raise SettingError(message)
    return found


def _actions(text: str) -> tuple[str, ...]:
    found = _patterns("actions", text)
    if unknown := strangers(found):
        message = (
            f"no action is called {', '.join(unknown)}; there are {', '.join(sorted(DECLARED))}"
        )
        raise SettingError(message)
    return found


def _password() -> str:
    """Ask for a password, twice; where nobody sits at a terminal, read a line."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("password: ")
    if getpass.getpass("once more: ") != password:
        message = "that was another password; nothing was changed"
        raise SettingError(message)
    return password


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
