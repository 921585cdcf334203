"""What this console is: versions, the server it looks at, what it may do, where to read more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import UNKNOWN, count, duration, isolated, size
from qless_web.presenters.page import Link, Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.reads.server import ServerFacts
    from qless_web.access import Grant
    from qless_web.extensions import Extensions
    from qless_web.reading import Standing
    from qless_web.triage.catalogue import Status

Line = tuple[str, str]

#: The version of the vendored htmx.
HTMX = "4.0.1"


@dataclass(frozen=True, kw_only=True)
class AboutPage(Page):
    """About this console.

    Attributes:
        versions: of qless and what it is made of.
        server: the server, as far as it tells.
        silence: why the server does not tell about itself; "" where it does.
        console: how this console is set up.
        addresses: addresses for programs: what each is for, and where.
        docs: where to read what, on this machine.
        from_checkout: it runs from a checkout, which has the documentation in its folders.

    """

    template: ClassVar[str] = "about/index.html"

    versions: tuple[Line, ...]
    server: tuple[Line, ...]
    silence: str
    console: tuple[Line, ...]
    addresses: tuple[tuple[str, Link], ...]
    docs: tuple[Line, ...]
    from_checkout: bool


def about_page(
    server: ServerFacts,
    *,
    versions: Mapping[str, str],
    console: Mapping[str, str],
    from_checkout: bool = False,
    metrics: bool = True,
) -> AboutPage:
    """Return the page; `console` is how this one is set up, `metrics` whether there are some."""
    return AboutPage(
        title="About",
        nav="about",
        versions=tuple((name, isolated(version)) for name, version in versions.items()),
        server=_server(server),
        silence=server.silence,
        console=tuple((name, value or UNKNOWN) for name, value in console.items()),
        addresses=(
            ("counts of all queues as JSON", Link("queues.index_data")),
            ("failures by group as JSON", Link("failures.counts")),
            ("the JSON API, described", Link("api.openapi")),
            *((("metrics for Prometheus", Link("metrics.metrics")),) if metrics else ()),
            ("does this process answer", Link("health.healthz")),
            ("can it serve", Link("health.readyz")),
        ),
        docs=_DOCS if from_checkout else _BUILT_IN,
        from_checkout=from_checkout,
    )


def index_line(index: Status, now: float) -> str:
    """Say how the index of all jobs stands."""
    if index.why_not:
        return f"not used: {index.why_not}"
    jobs = f"{count(index.jobs)} jobs"
    if not index.is_complete:
        jobs = f"{jobs} of about {count(index.total)} so far"
    lag = index.lag(now) or 0.0
    return f"{jobs}, {'up to date' if lag < _LATE_S else duration(lag) + ' behind'}"


def who_line(name: str, grant: Grant | None, *, is_known: bool) -> str:
    """Say who looks and what they may do; `is_known`: whether one has to be somebody here."""
    if grant is None:
        return "nobody who may look"
    who = isolated(name) if name else "whoever reaches this console"
    parts = [f"{who}, as {grant.role}"]
    if grant.queues:
        parts.append(f"of the queues {', '.join(map(isolated, grant.queues))} alone")
    if grant.actions:
        parts.append(f"by the actions {', '.join(map(isolated, grant.actions))} alone")
    return "; ".join(parts) + ("" if is_known else "; nobody has to sign in")


def data_line(extensions: Extensions) -> str:
    """Say whether data of jobs is shown as it is."""
    if extensions.redact is None:
        return "shown as it is: no redaction hook is set"
    return "shown as the redaction hook of the application lets it"


def added_line(extensions: Extensions) -> str:
    """Say what the application around the console adds to it."""
    kinds = {
        "column": extensions.columns,
        "link": extensions.links,
        "panel": extensions.panels,
        "formatter": extensions.formatters,
    }
    added = [f"{len(some)} {kind}{'s' * (len(some) != 1)}" for kind, some in kinds.items() if some]
    return ", ".join(added) or "no columns, links, panels or formatters of an application"


def reading_line(replica: Standing) -> str:
    """Say where pages are read; "" where there is one server alone."""
    if not replica.where:
        return ""
    if replica.is_read:
        return f"at the replica {replica.where}, at most {replica.lag_s:.1f} s behind"
    why_not = replica.why_not or "it does not have what was just changed, as far as is known"
    return f"at the primary, not at the replica {replica.where}: {why_not}"


#: Seconds that an index may be behind and still be called up to date.
_LATE_S = 10.0


def _server(server: ServerFacts) -> tuple[Line, ...]:
    if server.silence:
        return (("keys", count(server.keys)),)
    limit = server.memory_limit_bytes
    memory = size(server.memory_bytes) + (f" of {size(limit)}" if limit else ", no limit set")
    speaks = f", speaks Redis {server.speaks}" if server.speaks else ""
    return (
        ("server", f"{server.product} {server.version or UNKNOWN}{speaks}"),
        ("mode", server.mode or UNKNOWN),
        ("role", {"slave": "replica"}.get(server.role, server.role) or UNKNOWN),
        ("up for", duration(server.uptime_s)),
        ("memory", memory),
        ("when full", server.eviction or UNKNOWN),
        ("clients", count(server.clients)),
        ("keys", count(server.keys)),
    )


_DOCS: tuple[Line, ...] = (
    ("docs/tutorial/", "the first queue, watched in the console"),
    ("docs/how-to/", "mount it, put it behind a proxy, make it read-only"),
    ("docs/reference/", "pages, actions, settings, options, commands, keys"),
    ("docs/explanation/", "locks and heartbeats, priority and time, live updates"),
)

#: The documentation is not in the installed package; these are.
_BUILT_IN: tuple[Line, ...] = (
    ("qless --help", "put, work, look at and mend jobs in the shell"),
    ("qless-web --help", "every setting of this console"),
    ("python -m pydoc qless_core", "the Python API"),
    ("qless lua", "the rules, as they run inside Redis"),
)
