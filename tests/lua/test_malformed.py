"""Every command refuses what it cannot use, names itself and the argument, and writes nothing."""

from __future__ import annotations

import re

import pytest
from malformed import BAD_CALLS
from redis.exceptions import ResponseError

from qless_core.script import Script

COMMANDS = sorted(set(re.findall(r"^Commands\['([a-z.]+)'\]", Script().source, re.MULTILINE)))


@pytest.fixture
def jobs(lua):
    """Put one job of each sort that the bad calls speak of."""
    lua.put(1, "run")
    lua.pop(2)
    lua.put(3, "wait")
    lua("recur", 4, "q", "rec", "K", "{}", "interval", 60, 1000)
    return lua


def test_the_table_has_every_command():
    assert sorted(BAD_CALLS) == COMMANDS


@pytest.mark.parametrize("command", BAD_CALLS)
def test_bad_arguments_are_refused_by_name_and_nothing_is_written(jobs, command):
    title = command[0].upper() + command[1:]
    before = jobs.stored()

    for arguments, word in BAD_CALLS[command]:
        with jobs.hearing() as heard, pytest.raises(ResponseError) as caught:
            jobs(command, 100, *arguments)

        sentence = rf"BAD_ARGUMENT user_script:\d+: {re.escape(title)}\(\): "
        assert re.match(sentence, str(caught.value)), arguments
        assert word in str(caught.value), arguments
        assert heard == [], arguments
    assert jobs.stored() == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("now", ["", "soon", "nan", "inf", "AUTO"])
def test_a_moment_that_is_none_is_refused(lua, command, now):
    with lua.refused("BAD_ARGUMENT", 'argument "now"'):
        lua(command, now)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_moment_is_refused(lua, command):
    with lua.refused("BAD_ARGUMENT", 'argument "now" must be a number, got nothing'):
        lua(command)


@pytest.mark.parametrize("command", ["nope", "Put", "put ", "", "config", "__index"])
def test_an_unknown_command_is_refused(lua, command):
    with lua.refused("UNKNOWN_COMMAND"):
        lua(command, 1)


def test_a_call_without_a_command_is_refused(lua):
    with lua.refused("UNKNOWN_COMMAND"):
        lua()


def test_keys_are_refused(lua, redis):
    with lua.refused("BAD_ARGUMENT", "takes no keys"):
        redis.evalsha(lua.sha, 1, "ql:q", "queues", 1)


def test_a_long_argument_is_not_thrown_back_whole(lua):
    with pytest.raises(ResponseError) as caught:
        lua.put(1, "j", data="x" * 1_000_000)

    assert len(str(caught.value)) < 300


def test_many_arguments_are_not_too_many(lua):
    jids = [f"j-{number}" for number in range(9500)]

    assert lua("cancel", 1, *jids) == jids
    assert lua.json("multiget", 1, *jids) == []
