"""Names too long for an address are there as a digest: found again before any view is asked.

A digest means the same name for ever, so whoever wrote one into a link remembers it, and most such
links cost no round trip of their own.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort

from qless_core import reads
from qless_core.reads import names
from qless_web.console import current
from qless_web.formatting import LONGEST, Whole, tilde

blueprint = Blueprint("names", __name__)

#: Names that are remembered, and the characters of the longest.
_MOST, _LONGEST = 1_000, 64 * 1024

#: Characters of the longest jid that addresses spell out: servers refuse addresses of 8,190.
_LONGEST_JID = 6_000

#: Characters of an address that one character of a name takes at most.
_WIDEST = 12

_MISSING = {
    "jid": "The jid is too long for an address, and no list of jobs has it among its first hundred."
}

#: Names by what stands for them in addresses; shared by all threads, which only add to it.
_remembered: dict[str, str] = {}


@blueprint.app_url_value_preprocessor
def find(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Put the names where the address has their digests."""
    if values is None:
        return
    for argument, value in values.items():
        if isinstance(value, names.NameDigest) and argument in {"jid", *names.KINDS}:
            values[argument] = _name(argument, value)


def _name(kind: str, digest: names.NameDigest) -> str:
    if known := _remembered.get(tilde(digest)):
        return known
    client = current().client
    _, (name,) = reads.run(client.redis, client.keys, (names.resolve(kind, digest),), now=0.0)
    if name is None:
        abort(404, _MISSING.get(kind, f"There is no {kind} by this address now."))
    _remember(name)
    return str(name)


@blueprint.app_url_defaults
def keep_names(_endpoint: str, values: dict[str, Any]) -> None:
    """Remember names that addresses shorten; spell jids out where they fit: not all are listed."""
    jid = values.get("jid")
    if isinstance(jid, str):
        fits = len(jid) * _WIDEST <= _LONGEST_JID or len(tilde(Whole(jid))) <= _LONGEST_JID
        values["jid"] = Whole(jid) if fits else str(jid)
        if not fits:
            _remember(jid)
    for argument in names.KINDS:
        name = values.get(argument)
        if isinstance(name, str) and len(name) * _WIDEST > LONGEST:
            _remember(name)


def _remember(name: str) -> None:
    written = tilde(name)
    if not written.startswith("~~") or len(name) > _LONGEST:
        return
    if len(_remembered) >= _MOST:
        _remembered.clear()
    _remembered[written] = name
