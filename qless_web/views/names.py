"""Names too long for an address are there as a digest: found again before any view is asked."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort

from qless_core import reads
from qless_core.reads import names
from qless_web.console import current
from qless_web.formatting import Whole

blueprint = Blueprint("names", __name__)


@blueprint.app_url_value_preprocessor
def find(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Put the names where the address has their digests."""
    if values is None:
        return
    for argument, value in values.items():
        if isinstance(value, names.NameDigest) and argument in names.KINDS:
            values[argument] = _name(argument, value)


def _name(kind: str, digest: names.NameDigest) -> str:
    client = current().client
    _, (name,) = reads.run(client.redis, client.keys, (names.resolve(kind, digest),), now=0.0)
    if name is None:
        abort(404, f"There is no {kind} by this address now.")
    return str(name)


@blueprint.app_url_defaults
def keep_jids(_endpoint: str, values: dict[str, Any]) -> None:
    """Spell jids out whatever their length: no list could find them again."""
    if "jid" in values:
        values["jid"] = Whole(values["jid"])
