"""Every command refuses what it cannot use, names itself and the argument, and writes nothing."""

from __future__ import annotations

import json
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
    with lua.refused("BAD_ARGUMENT", 'argument "now" must be a number from 0 to 1e11, got nothing'):
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


#: Texts to append to, or put in the place of, what is refused.
LONG = ("x" * 20_000, "ü" * 10_000)


def long_calls(command):
    """Make calls whose arguments are much too long, one argument at a time."""
    for arguments, _ in BAD_CALLS[command]:
        for position in range(len(arguments)):
            head, tail = arguments[:position], arguments[position + 1 :]
            for text in LONG:
                yield *head, text, *tail
                yield *head, f"{arguments[position]}{text}", *tail
    if command == "recur":
        yield "q", "r", "K", "{}", "interval", "-" + "0" * 20_000 + "1", 0


@pytest.mark.parametrize("command", BAD_CALLS)
def test_no_refusal_is_longer_than_a_screen(jobs, command):
    refusals = [refusal(jobs, command, 100, *arguments) for arguments in long_calls(command)]

    assert max((len(text.encode()) for text in refusals), default=0) < 5_000
    assert not [text for text in refusals if "\ufffd" in text]


def refusal(lua, *call):
    """Make a call; answers what it was refused with, "" when it was not."""
    try:
        lua(*call)
    except ResponseError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("place", [0, 1])
def test_no_refusal_of_the_call_itself_is_longer_either(redis, lua, place):
    call = ["put", 1]
    call[place] = "x" * 20_000

    with pytest.raises(ResponseError) as caught:
        redis.evalsha(lua.sha, 0, *call)

    assert len(str(caught.value)) < 5_000


def test_a_long_refusal_keeps_both_ends(lua):
    jid = "a" * 4_000 + "z" * 4_000
    lua.put(1, jid)

    with lua.refused("JOB_NOT_RUNNING", "is not currently running: waiting"):
        lua("heartbeat", 2, jid, "w")


@pytest.fixture
def many(redis):
    """Make 20,000 jobs that run with `w` in `q`; more arguments than Lua can unpack."""
    jids = [f"j-{number:05}" for number in range(20_000)]
    with redis.pipeline(transaction=False) as pipeline:
        for jid in jids:
            job = {"jid": jid, "state": "running", "queue": "q", "worker": "w", "expires": 60}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
        pipeline.zadd("ql:q:q-locks", dict.fromkeys(jids, 60))
        pipeline.zadd("ql:w:w:jobs", dict.fromkeys(jids, 60))
        pipeline.execute()
    return jids


def test_many_jids_are_not_too_many(many, lua, redis):
    assert [job["jid"] for job in lua.json("multiget", 1, *many)] == many

    lua("timeout", 2, *many)
    assert redis.zcard("ql:q:q-work") == len(many)

    lua.put(3, "j")
    assert lua("depends", 4, "j", "on", *many) == 1
    assert redis.scard("ql:j:j-dependencies") == len(many)
    assert lua("depends", 5, "j", "off", *many) == 1
    assert lua.job("j")["state"] == "waiting"
    lua.put(5, "j", "depends", json.dumps(many))
    assert redis.scard("ql:j:j-dependencies") == len(many)
    assert lua("depends", 5, "j", "off", "all") == 1

    assert lua("cancel", 6, *many) == many
    assert redis.zrange("ql:q:q-work", 0, -1) == ["j"]


def test_many_names_are_not_too_many(lua, redis):
    names = [f"n-{number:05}" for number in range(20_000)]
    lua.put(1, "j")
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 1000)

    assert lua.json("tag", 2, "add", "j", *names[:1000]) == names[:1000]
    assert lua.json("tag", 3, "remove", "j", *names) == []
    assert lua.json("recur.tag", 4, "r", *names[:1000]) == names[:1000]
    assert lua.json("recur.untag", 5, "r", *names) == []
    lua("pause", 6, *names)
    assert redis.scard("ql:paused_queues") == len(names)
    lua("queue.forget", 7, *names)
    assert redis.scard("ql:paused_queues") == 0
    redis.zadd("ql:workers", dict.fromkeys(names, 1))
    lua("worker.deregister", 8, *names)
    assert redis.exists("ql:workers") == 0
