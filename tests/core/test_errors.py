from __future__ import annotations

import pickle
import re
import traceback
from pathlib import Path

import pytest
import redis

import qless_core
from qless_core import Client, errors

REFERENCE = Path(__file__).parents[2] / "docs/reference/errors.md"
LUA = Path(qless_core.__file__).parent / "lua"


def every(kind):
    return [kind, *(found for child in kind.__subclasses__() for found in every(child))]


def test_every_code_of_the_script_has_a_class_and_the_reverse():
    refused = {
        code
        for path in LUA.glob("*.lua")
        for code in re.findall(r"'([A-Z]+(?:_[A-Z]+)+)'", path.read_text())
    }

    assert refused == {kind.code for kind in every(errors.QlessError) if kind.code}


def test_every_class_says_when_it_is_raised():
    for kind in every(errors.QlessError):
        assert kind.__doc__.splitlines()[0].startswith("Raised when")


@pytest.mark.parametrize(
    ("sentence", "kind", "fields"),
    [
        ("Heartbeat(): Job a b does not exist", errors.JobNotFound, {"jid": "a b"}),
        (
            "Complete(): Job j-1 is not currently running: waiting",
            errors.JobNotRunning,
            {"jid": "j-1", "state": "waiting"},
        ),
        (
            "Fail(): Job j not currently running: complete",
            errors.JobNotRunning,
            {"jid": "j", "state": "complete"},
        ),
        (
            "Heartbeat(): Job j given out to another worker: w 2",
            errors.LockLost,
            {"jid": "j", "worker": "w 2"},
        ),
        ("Cancel(): a is a dependency of b", errors.HasDependents, {"jid": "a"}),
        (
            "Depends(): Job j not in the depends state: running",
            errors.NotWaitingOnDependencies,
            {"jid": "j", "state": "running"},
        ),
    ],
)
def test_fields_are_read_from_the_sentence(sentence, kind, fields):
    error = kind.from_refusal(sentence)

    assert {name: getattr(error, name) for name in fields} == fields
    assert str(error) == sentence


def test_a_sentence_that_names_nothing_is_still_told():
    error = errors.LockLost.from_refusal("something else entirely")

    assert (error.jid, error.worker) == ("", "")
    assert str(error) == "something else entirely"


def test_errors_survive_the_way_between_processes():
    error = errors.JobNotRunning("j", "waiting")

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made on the spot

    assert (type(copy), copy.jid, copy.state) == (errors.JobNotRunning, "j", "waiting")
    assert str(copy) == str(error) == "Job j is not currently running: waiting"


def test_what_to_do_is_the_same_in_the_reference_and_in_the_class():
    rows = re.findall(r"^\| `(\w+)`.*\| (.*) \|$", REFERENCE.read_text(), re.MULTILINE)
    told = {name: re.sub(r"\]\(.*?\)|[`[]", "", cell) for name, cell in rows if cell.strip()}
    kinds = every(errors.RedisUnavailable)

    assert len(kinds) >= 10
    for kind in kinds:
        assert kind.advice
        assert told[kind.__name__].startswith(kind.advice)


def test_all_classes_of_the_reference_are_in_the_package():
    text = REFERENCE.read_text()

    for name in re.findall(r"^\| `(\w+)`", text, re.MULTILINE):
        assert issubclass(getattr(qless_core, name), errors.QlessError)
        assert name in qless_core.__all__


def tracebacks(error):
    return "".join(traceback.format_exception(error)).count("Traceback (most recent")


def test_a_refusal_has_one_traceback(client):
    with pytest.raises(errors.BadArgument) as refusal:
        client.queues["q"].recur("Job", {}, -5)
    assert tracebacks(refusal.value) == 1

    with pytest.raises(errors.JobNotFound) as refusal:
        client.track("nobody")
    assert tracebacks(refusal.value) == 1


@pytest.mark.parametrize("patience", [0, 0.1])
def test_what_the_connection_said_is_the_one_cause_and_the_message_says_what_to_do(patience):
    with Client("redis://127.0.0.1:1", patience=patience) as client:
        with pytest.raises(errors.RedisUnavailable) as trouble:
            client.queues["q"].pop()
        with pytest.raises(errors.RedisUnavailable) as no_time:
            client.now()

    for error in (trouble.value, no_time.value):
        assert isinstance(error.__cause__, redis.exceptions.ConnectionError)
        assert tracebacks(error) == 2
        assert str(error).endswith(f"refused: {errors.RedisUnavailable.advice}")
