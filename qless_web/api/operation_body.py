"""What one says to have an operation done, as JSON Schema: the options of each action by itself."""

from __future__ import annotations

from typing import Any, Final

from qless_web.actions import typed
from qless_web.actions.field import NOT_BLANK
from qless_web.operations import selection
from qless_web.operations.verbs import VERBS
from qless_web.triage.query import LONGEST

Schema = dict[str, Any]

#: Fields of a body, and those that must be there.
FIELDS: Final = ("action", "selection", "options", "dry_run", "note")
REQUIRED: Final = ("action", "selection")

#: Characters of a note.
LONGEST_NOTE: Final = 4_000

_SELECTION: Final[dict[str, Schema]] = {
    "jids": {
        "type": "array",
        "description": "These.",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "maxItems": selection.MOST_NAMED,
    },
    "group": {"type": "string", "minLength": 1, "description": "All of this failure group."},
    "q": {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST,
        "description": "All that this search finds.",
    },
}

_OPTIONS: Final[dict[str, Schema]] = {
    "queue": {"type": "string", "pattern": NOT_BLANK, "description": "Where they go."},
    "delay": {
        "type": "number",
        "minimum": 0,
        "maximum": 1_000_000_000,
        "description": "Seconds that they wait there first.",
    },
    "priority": {
        "type": "integer",
        "minimum": -1_000_000,
        "maximum": 1_000_000,
        "description": "The one they get; the higher, the sooner.",
    },
    "tags": {
        "type": "array",
        "items": {"type": "string", "pattern": NOT_BLANK},
        "minItems": 1,
        "maxItems": 100,
        "description": "Tags, each as it is.",
    },
    "set": {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 100,
        "description": "Fields of the data by name, each with its new value.",
    },
    "data": {
        "anyOf": [
            {"type": ["object", "array", "number", "boolean"]},
            {"type": "string", "pattern": typed.JSON},
        ],
        "description": "All of the data: as it is, or JSON as text.",
    },
    "retry": {"type": "boolean", "description": "Whether failed ones are retried after that."},
    "dependents": {"type": "boolean", "description": "Whether all that wait for them go, too."},
    "rate": {
        "type": "number",
        "minimum": 0.01,
        "maximum": 100_000,
        "description": "Jobs a second at most.",
    },
    "stop_percent": {
        "type": "number",
        "minimum": 0.1,
        "maximum": 100,
        "description": "It pauses where more of a hundred have failed again.",
    },
    "canary": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1_000_000,
        "description": "So many are done first, until somebody lets it go on.",
    },
}


def schema() -> Schema:
    """Describe a body: one of several, as each action takes options of its own."""
    return {
        "type": "object",
        "required": list(REQUIRED),
        "oneOf": [_of(options, actions) for options, actions in _alike().items()],
    }


def _alike() -> dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]]:
    """Find the actions that take the same: the options there are, and those there must be."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for verb in VERBS.values():
        found.setdefault((verb.options, verb.needs), []).append(verb.name)
    return found


def _of(options: tuple[tuple[str, ...], tuple[str, ...]], actions: list[str]) -> Schema:
    known, needed = options
    needs_some = bool(needed) or "set" in known
    return {
        "type": "object",
        "title": ", ".join(actions),
        "required": [*REQUIRED, *(["options"] if needs_some else [])],
        "additionalProperties": False,
        "properties": {
            "action": {"type": "string", "enum": actions, "description": "What to do."},
            "selection": {
                "description": "Which jobs.",
                "oneOf": [_object({kind: each}, (kind,)) for kind, each in _SELECTION.items()],
            },
            "options": {"description": "How.", **_how(known, needed)},
            "dry_run": {
                "type": "boolean",
                "default": False,
                "description": "Only say what it would do.",
            },
            "note": {
                "type": "string",
                "maxLength": LONGEST_NOTE,
                "description": "Why: for the audit.",
            },
        },
    }


def _how(known: tuple[str, ...], needed: tuple[str, ...]) -> Schema:
    """Describe the options of an action: an edit takes fields or all of the data, never both."""
    if not {"set", "data"} <= {*known}:
        return _object({name: _OPTIONS[name] for name in known}, needed)
    return {
        "oneOf": [
            _object({name: _OPTIONS[name] for name in known if name != other}, (one, *needed))
            for one, other in (("set", "data"), ("data", "set"))
        ]
    }


def _object(properties: dict[str, Schema], required: tuple[str, ...]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }
