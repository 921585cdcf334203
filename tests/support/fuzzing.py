"""Asks the JSON API whatever its own description allows, and what it does not, and looks closely.

Shared by a test that tries a few hundred requests and by `benchmarks/api_fuzz.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from qless_web.api.route import PREFIX
from qless_web.demo import seeds
from qless_web.triage.query import quoted

if TYPE_CHECKING:
    from flask import Flask
    from schemathesis import APIOperation, Case

    from qless_core.client import Client

#: An endless stream is tried elsewhere.
_ENDLESS = f"{PREFIX}/events"


@dataclass
class Fuzz:
    """What was tried and found.

    Attributes:
        requests: how many were sent.
        statuses: how often each operation answered with which status.
        failures: what was not as described, by operation.

    """

    requests: int = 0
    statuses: dict[str, dict[int, int]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def fuzz(app: Flask, client: Client, *, examples: int, seed: int = 5678, only: str = "") -> Fuzz:
    """Send requests to an app; its Redis is emptied, and furnished anew after each that changes it.

    Args:
        app: the console.
        client: of its Redis.
        examples: how many requests, about, over all operations.
        seed: another one tries other requests.
        only: operations whose label ends so.

    """
    found = Fuzz()
    schema = schemathesis.openapi.from_wsgi(f"{PREFIX}/openapi.json", app)
    operations = [cast("Any", each).ok() for each in schema.get_all_operations()]
    operations = [each for each in operations if each.full_path != _ENDLESS]
    operations = [each for each in operations if each.label.endswith(only)]
    names: dict[str, list[str]] = {}
    each = max(2, round(examples / len(operations) / 2))
    for operation in operations:
        if not names:
            client.redis.flushdb()
            seeds.plant(client)
            names = _names(client)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _try(operation, mode, names, each, seed, found)
        if operation.method != "get":
            names = {}
    return found


def _try(
    operation: APIOperation[Any, Any, Any, Any],
    mode: GenerationMode,
    names: dict[str, list[str]],
    examples: int,
    seed: int,
    found: Fuzz,
) -> None:
    statuses = found.statuses.setdefault(operation.label, {})

    @seeded(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
    def attempt(case: Case[Any], data: st.DataObject) -> None:
        if mode is GenerationMode.POSITIVE:
            _made_likely(case, names, data)
        response = case.call()
        found.requests += 1
        statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
        case.validate_response(response)

    try:
        attempt()
    except Unsatisfiable:
        pass  # nothing can be wrong about a request that takes any text, or none at all
    except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - whatever was found, of any kind
        found.failures[f"{operation.label} {mode.value}"] = _told(error)


def _made_likely(case: Case[Any], names: dict[str, list[str]], data: st.DataObject) -> None:
    """Ask for what is there in most cases; nobody guesses a cursor, or the language of searches."""
    if isinstance(case.query, dict):
        case.query.pop("cursor", None)
        if case.operation.label == "GET /search" and "q" in case.query:
            case.query["q"] = quoted(str(case.query["q"]))
    for name in list(case.path_parameters or {}):
        if name in names and data.draw(st.integers(0, 3)):
            case.path_parameters[name] = data.draw(st.sampled_from(names[name]))
    body = case.body
    chosen = body.get("selection") if isinstance(body, dict) else None
    if isinstance(chosen, dict) and "q" in chosen:
        chosen["q"] = quoted(str(chosen["q"]))
    if isinstance(body, dict) and "jids" in body and data.draw(st.booleans()):
        some = st.lists(st.sampled_from(names["jid"]), min_size=1, max_size=5)
        body["jids"] = cast("list[Any]", data.draw(some))


def _names(client: Client) -> dict[str, list[str]]:
    groups = sorted(client.failures.groups)
    failed = [job.jid for job in client.jobs.all_failed()]
    return {
        "jid": [*failed, *client.jobs.complete(0, 20), "no-such-job"],
        "queue": [*sorted(queue.name for queue in client.queues.counts), "no-such-queue"],
        "group": [*groups, "no-such-group"],
        "worker": [*sorted(worker.name for worker in client.workers.counts), "nobody"],
        "tag": [*client.tags(), "no-such-tag"],
    }


def _told(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "\n".join(_told(each) for each in error.exceptions)
    return f"{type(error).__name__}: {error}"
