"""The server itself: what it is and how it is, as far as this user may ask."""

from __future__ import annotations

from dataclasses import dataclass

from qless_core.options import as_whole
from qless_core.reads.plan import Read, Scope, attempt, call, read


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A Redis or Valkey server. Numbers are None, words "" where it does not tell."""

    #: "Redis" or "Valkey".
    product: str
    version: str
    #: The Redis version whose commands it speaks, where that is another number.
    speaks: str
    #: "standalone", "sentinel" or "cluster".
    mode: str
    #: "master" or "slave".
    role: str
    uptime_s: int | None
    memory_bytes: int | None
    #: 0 where there is no limit.
    memory_limit_bytes: int | None
    #: What it does when its memory is full. Anything but `noeviction` may lose jobs.
    eviction: str
    clients: int | None
    keys: int | None
    #: Why the server does not tell about itself; "" where it does.
    silence: str


@read
def server(scope: Scope) -> Read[ServerFacts]:  # noqa: ARG001 - every read is given the scope
    """Ask the server about itself."""
    info, keys = yield [attempt("info"), call("dbsize")]
    told = info if isinstance(info, dict) else {}
    speaks = str(told.get("redis_version", ""))
    valkey = str(told.get("valkey_version", ""))
    return ServerFacts(
        product="Valkey" if valkey else "Redis",
        version=valkey or speaks,
        speaks=speaks if valkey else "",
        mode=str(told.get("redis_mode") or told.get("server_mode") or ""),
        role=str(told.get("role", "")),
        uptime_s=as_whole(told.get("uptime_in_seconds")),
        memory_bytes=as_whole(told.get("used_memory")),
        memory_limit_bytes=as_whole(told.get("maxmemory")),
        eviction=str(told.get("maxmemory_policy", "")),
        clients=as_whole(told.get("connected_clients")),
        keys=as_whole(keys),
        silence=str(info) if isinstance(info, Exception) else "",
    )
