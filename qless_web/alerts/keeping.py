"""What Redis keeps of the alerts: rules, what each has come to, silences, what is to be sent."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from qless_core.reads.plan import Call, Read, Scope, call, read
from qless_web.alerts.message import Message
from qless_web.alerts.rules import MOST, Rule, stored
from qless_web.alerts.turning import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.keys import Keys
    from qless_core.reads import Mark


@dataclass(frozen=True, slots=True)
class Due:
    """A message that is to be sent.

    Attributes:
        message: it.
        attempts: those that have been made.
        at: when the next one is due, epoch seconds.

    """

    message: Message
    attempts: int = 0
    at: float = 0.0

    @property
    def stored(self) -> str:
        """Write it down for Redis."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Kept:
    """All of it, by the name of the rule."""

    rules: tuple[Rule, ...]
    states: Mapping[str, Status]
    silences: Mapping[str, float]
    outbox: Mapping[str, Due]
    paused: Mapping[str, float]
    now: float

    def status(self, name: str) -> Status:
        """Give what a rule has come to."""
        return self.states.get(name, Status())

    def is_silent(self, name: str) -> bool:
        """Say whether nothing is told of a rule for now."""
        return self.silences.get(name, 0.0) > self.now

    def find(self, name: str) -> Rule | None:
        """Find a rule."""
        return next((rule for rule in self.rules if rule.name == name), None)


def leader_key(keys: Keys) -> str:
    """Name the text that says which process looks."""
    return keys.web("alerts:leader")


def _keys(keys: Keys) -> list[str]:
    return [
        keys.web(f"alerts:{name}") for name in ("rules", "state", "silence", "outbox", "paused")
    ]


@read
def kept(scope: Scope, fixed: Sequence[Rule] = ()) -> Read[Kept]:
    """Read all of it, the rules of a file first; one of the same name hides another."""
    found = yield [call("hgetall", key) for key in _keys(scope.keys)]
    rules, states, silences, outbox, paused = (each or {} for each in found)
    named = {rule.name for rule in fixed}
    others = [stored(name, text) for name, text in sorted(rules.items()) if name not in named]
    due = {name: _due(text) for name, text in outbox.items()}
    return Kept(
        rules=(*fixed, *(rule for rule in others if rule)),
        states={name: Status.of(text) for name, text in states.items()},
        silences={name: _number(text) for name, text in silences.items()},
        outbox={name: each for name, each in due.items() if each},
        paused={name: _number(text) for name, text in paused.items()},
        now=scope.now,
    )


@read
def mark(scope: Scope) -> Read[Mark]:
    """Give what differs once the page of the alerts would."""
    rules, state, silence, *_ = _keys(scope.keys)
    found = yield [call("hgetall", rules), call("hgetall", state), call("hgetall", silence)]
    return {"alerts": tuple(tuple(sorted((each or {}).items())) for each in found)}


@read
def save(scope: Scope, rule: Rule) -> Read[bool]:
    """Keep a rule, in place of one with its name; False where there are too many."""
    rules = _keys(scope.keys)[0]
    known, many = yield [call("hexists", rules, rule.name), call("hlen", rules)]
    if not known and (many or 0) >= MOST:
        return False
    yield [call("hset", rules, rule.name, rule.text)]
    return True


@read
def forget(scope: Scope, name: str) -> Read[bool]:
    """Forget a rule and all about it; False where there is none of that name."""
    rules, state, silence, *_ = _keys(scope.keys)
    gone, *_ = yield [call("hdel", key, name) for key in (rules, state, silence)]
    return bool(gone)


@read
def hush(scope: Scope, name: str, until: float) -> Read[None]:
    """Tell nothing of a rule until then; 0.0 ends that."""
    silence = _keys(scope.keys)[2]
    yield [call("hset", silence, name, until) if until else call("hdel", silence, name)]


@read
def note(
    scope: Scope, before: Kept, states: Mapping[str, Status], paused: Mapping[str, float]
) -> Read[None]:
    """Write down what has changed since it was read; what is about no rule any more goes."""
    _, state, silence, outbox, held = _keys(scope.keys)
    known = {rule.name for rule in before.rules}
    calls: list[Call] = []
    changed = {
        name: each.stored for name, each in states.items() if each != before.states.get(name)
    }
    if changed:
        calls.append(call("hset", state, mapping=changed))
    for key, names in ((state, before.states), (silence, before.silences)):
        gone = [name for name in names if name not in known]
        calls += [call("hdel", key, *gone)] if gone else []
    lost = [name for name, due in before.outbox.items() if due.message.alert not in known]
    calls += [call("hdel", outbox, *lost)] if lost else []
    news = {name: since for name, since in paused.items() if name not in before.paused}
    over = [name for name in before.paused if name not in paused]
    calls += [call("hset", held, mapping=news)] if news else []
    calls += [call("hdel", held, *over)] if over else []
    yield calls


@read
def post(scope: Scope, messages: Sequence[Message]) -> Read[None]:
    """Note down what is to be sent; a message that is there already stays as it is."""
    outbox = _keys(scope.keys)[3]
    yield [call("hsetnx", outbox, each.id, Due(each).stored) for each in messages]


@read
def attempt(scope: Scope, due: Due, at: float) -> Read[None]:
    """Count an attempt before it is made, and say when the next would be."""
    later = replace(due, attempts=due.attempts + 1, at=at)
    yield [call("hset", _keys(scope.keys)[3], due.message.id, later.stored)]


@read
def settle(scope: Scope, due: Due, status: Status, *, is_over: bool) -> Read[None]:
    """Note what came of an attempt; where it was the last one the message goes."""
    _, state, _, outbox, _ = _keys(scope.keys)
    calls = [call("hset", state, due.message.alert, status.stored)]
    yield [*calls, call("hdel", outbox, due.message.id)] if is_over else calls


def _due(text: str) -> Due | None:
    try:
        found = cast("dict[str, Any]", json.loads(text))
        told = {**found["message"], "names": tuple(found["message"]["names"])}
        return Due(Message(**told), int(found["attempts"]), float(found["at"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0
