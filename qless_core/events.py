"""What the queue says about itself while it works.

The log channel tells of every job when it is put, completed, advanced, failed, canceled or loses
its lock, and of options. It says nothing of pop, heartbeat, retry, pause, tag, priority and recur.
The other channels carry the bare jid, of tracked jobs alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from qless_core.records import text

#: The channels that carry jids of tracked jobs, and `track` and `untrack` of any job.
TRACKED_CHANNELS: Final = (
    "canceled",
    "completed",
    "failed",
    "popped",
    "put",
    "stalled",
    "track",
    "untrack",
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""


@dataclass(frozen=True, slots=True)
class JobEvent(Event):
    """Something that happened to a job, from the log."""

    jid: str


@dataclass(frozen=True, slots=True)
class Put(JobEvent):
    """A job was put into a queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Completed(JobEvent):
    """A job was completed in a queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Advanced(JobEvent):
    """A job was completed in one queue and went into the next, `to`."""

    queue: str
    to: str


@dataclass(frozen=True, slots=True)
class Failed(JobEvent):
    """A job failed."""

    group: str
    message: str
    worker: str


@dataclass(frozen=True, slots=True)
class Canceled(JobEvent):
    """A job was canceled; `worker` is "" where nobody held it."""

    queue: str
    worker: str


@dataclass(frozen=True, slots=True)
class LockLost(JobEvent):
    """A worker lost its lock on a job."""

    worker: str


@dataclass(frozen=True, slots=True)
class ConfigSet(Event):
    """An option was set."""

    option: str
    value: str


@dataclass(frozen=True, slots=True)
class ConfigUnset(Event):
    """An option was unset."""

    option: str


@dataclass(frozen=True, slots=True)
class Tracked(JobEvent):
    """Something happened to a tracked job; `name` is one of `TRACKED_CHANNELS`."""

    name: str


@dataclass(frozen=True, slots=True)
class ToWorker(JobEvent):
    """A worker was told of a job that it held: `name` is `lock_lost` or `canceled`."""

    name: str
    worker: str


#: The log's word for each event, and its class, whose fields are named as in the message.
_LOGGED: Final[dict[str, type[Event]]] = {
    "put": Put,
    "completed": Completed,
    "advanced": Advanced,
    "failed": Failed,
    "canceled": Canceled,
    "lock_lost": LockLost,
    "config_set": ConfigSet,
    "config_unset": ConfigUnset,
}


def event_of(channel: str, data: str, namespace: str = "ql:") -> Event | None:
    """Read one message; None for what is not ours or makes no sense."""
    if not channel.startswith(namespace):
        return None
    name = channel[len(namespace) :]
    if name in TRACKED_CHANNELS:
        return Tracked(jid=data, name=name)
    if name == "log":
        return _logged(_message(data))
    return _to_worker(_message(data), name[2:]) if name.startswith("w:") else None


def _message(data: str) -> dict[str, Any]:
    """Read the JSON of a message; empty when it is none."""
    try:
        message = json.loads(data)
    except (RecursionError, ValueError):
        return {}
    return message if isinstance(message, dict) else {}


def _logged(message: dict[str, Any]) -> Event | None:
    """Build the event that a message of the log tells of."""
    kind = _LOGGED.get(text(message.get("event")))
    if kind is None:
        return None
    return kind(**{name: text(message.get(name)) for name in kind.__dataclass_fields__})


def _to_worker(message: dict[str, Any], worker: str) -> Event | None:
    """Build the event that a message to a worker tells of."""
    name, jid = text(message.get("event")), text(message.get("jid"))
    return ToWorker(jid=jid, name=name, worker=worker) if name and jid else None
