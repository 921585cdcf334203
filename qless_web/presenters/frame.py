"""What stands around every page, from the counts and the settings."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal, cast

from qless_web.preferences import Preferences
from qless_web.presenters.page import Action, Environment, Flash, Frame, Link, Live, RailEntry

if TYPE_CHECKING:
    from qless_core.reads.frame import FrameCounts
    from qless_web.presenters.page import ServerLink
    from qless_web.settings import Settings

Tone = Literal["neutral", "green", "amber", "red", "blue", "violet"]

#: What the command takes where nobody says otherwise.
NAMESPACE = "ql:"

_TONES: dict[str, Tone] = {"grey": "neutral"}


def running_version() -> str:
    """Give the version of the installed package; "" when it runs from a checkout."""
    try:
        return version("qless")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request brings to its page: where it is, what its reader may and has chosen."""

    here: str
    refusal: str
    flash: tuple[Flash, ...] = ()
    choices: Preferences = field(default_factory=Preferences)
    views: tuple[tuple[str, str], ...] = ()
    shell: str = "qless"
    cautions: tuple[str, ...] = ()
    servers: tuple[ServerLink, ...] = ()
    all_servers: str = ""


def frame(settings: Settings, counts: FrameCounts | None, asked: Asked) -> Frame:
    """Make the frame. Without counts, as when Redis is gone, the rail shows no numbers."""
    return Frame(
        application=(counts.application if counts else "") or "qless",
        rail=rail(counts),
        now=counts.now if counts else 0.0,
        here=asked.here,
        servers=asked.servers,
        all_servers=asked.all_servers,
        environment=_environment(settings),
        read_only=bool(asked.refusal),
        read_only_reason=asked.refusal,
        live=Live(link=Link("live.events") if settings.live_max_streams else None),
        flash=asked.flash,
        version=running_version(),
        choices=asked.choices,
        views=asked.views,
        cautions=asked.cautions,
        save_view=_save_view(asked.here),
        shell=asked.shell,
    )


def _save_view(here: str) -> Action:
    link = Link("act.save_view", {"address": here})
    return Action(text="Save this view", link=link, icon="views", asks=True)


def shell(redis_url: str, namespace: str) -> str:
    """Give the beginning of a line for the shell that leads to this Redis; no password in it."""
    words = ["qless", "--redis-url", redis_url]
    if namespace != NAMESPACE:
        words += ["--namespace", namespace]
    return shlex.join(words)


def _environment(settings: Settings) -> Environment | None:
    if not settings.environment:
        return None
    colour = settings.environment_colour
    return Environment(settings.environment, _TONES.get(colour, cast("Tone", colour)))


def rail(counts: FrameCounts | None) -> tuple[RailEntry, ...]:
    """List the places of the console, with how much there is in each."""

    def entry(key: str, text: str, endpoint: str, counted: str = "") -> RailEntry:
        count = getattr(counts, counted) if counts and counted else None
        tone: Literal["", "failed"] = "failed" if key == "failures" and count else ""
        return RailEntry(key, text, Link(endpoint), icon=key, count=count, tone=tone)

    return (
        entry("overview", "Overview", "overview.index"),
        entry("queues", "Queues", "queues.index", "queues"),
        entry("scheduled", "Scheduled", "scheduled.index"),
        entry("recurring", "Recurring", "recurring.index"),
        entry("failures", "Failures", "failures.index", "failed"),
        entry("trouble", "Trouble", "trouble.index"),
        entry("tracked", "Tracked", "tracked.index", "tracked"),
        entry("tags", "Tags", "tags.index", "tags"),
        entry("workers", "Workers", "workers.index", "workers"),
        entry("completed", "Completed", "completed.index", "completed"),
        entry("search", "Search", "search.index"),
        entry("views", "Saved views", "views.index"),
        entry("operations", "Operations", "operations.index"),
        entry("alerts", "Alerts", "alerts.index"),
        entry("config", "Config", "config.index"),
        entry("about", "About", "about.index"),
        entry("preferences", "Preferences", "preferences.index"),
    )
