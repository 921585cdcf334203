"""Where a server is in the stream of changes that replicas follow."""

from __future__ import annotations

from dataclasses import dataclass

from qless_core.options import as_whole
from qless_core.reads.plan import Read, Scope, attempt, read


@dataclass(frozen=True, slots=True)
class Position:
    """How far a primary has written its stream of changes, or a replica has taken it in."""

    #: "master" or "slave"; "" where it does not tell.
    role: str
    #: What the stream is called: a primary and its replicas say the same.
    stream: str
    #: Bytes of the stream.
    offset: int
    #: Whether a replica hears its primary.
    is_linked: bool
    #: Why the server does not tell; "" where it does.
    silence: str


@read
def position(scope: Scope) -> Read[Position]:  # noqa: ARG001 - every read is given the scope
    """Ask a server where it is."""
    (info,) = yield [attempt("info", "replication")]
    told = info if isinstance(info, dict) else {}
    role = str(told.get("role", ""))
    # Of what a replica has read, not all need be there for those who ask.
    offset = told.get("slave_repl_offset" if role == "slave" else "master_repl_offset")
    return Position(
        role=role,
        stream=str(told.get("master_replid", "")),
        offset=as_whole(offset) or 0,
        is_linked=told.get("master_link_status") == "up",
        silence=str(info) if isinstance(info, Exception) else "",
    )
