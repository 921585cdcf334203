"""The script as a whole: how it is put together, called, and made to speak of its own files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError, ResponseError

import qless_core
from qless_core import errors
from qless_core.runner import Runner
from qless_core.script import PARTS, Script
from tests.support.cutting import cut_off

LUA = Path(qless_core.__file__).parent / "lua"


@pytest.fixture
def run(redis, script):
    return Runner(redis, script)


def texts():
    return {path.stem: path.read_text("utf-8") for path in sorted(LUA.glob("*.lua"))}


# How it is put together


def test_every_file_is_a_part_and_the_reverse():
    assert sorted(PARTS) == sorted(texts())


def test_only_one_file_knows_the_names_of_keys():
    assert [name for name, text in texts().items() if re.search(r"""['"]ql:""", text)] == ["keys"]


def test_a_line_of_the_script_is_a_line_of_a_file(script):
    told = {}
    for place, line in enumerate(script.source.splitlines(), start=1):
        told.setdefault(script.locate(f"user_script:{place}"), []).append(line)

    for name, text in texts().items():
        for number, line in enumerate(text.splitlines(), start=1):
            found = told.get(f"{name}.lua:{number}", [])
            assert any(line in whole for whole in found) or not line.strip(), f"{name}.lua:{number}"
    assert script.locate("user_script:999999: x") == "user_script:999999: x"


def test_b70_no_name_is_global(redis, lua):
    """A global of ours would stay in the server, or be refused by it.

    That all servers answer alike is told by the recordings, which are tried on each.
    """
    names = "local n = 0 for _ in pairs(_G) do n = n + 1 end return n"
    before = redis.eval(names, 0)

    lua.put(1, "j")
    lua.pop(2)

    assert redis.eval(names, 0) == before
    for name, text in texts().items():
        assert not re.search(r"^\s*function [a-z_]+\(", text, re.MULTILINE), name


def test_the_library_lives_on_and_knows_it_and_the_script_does_not(script):
    assert script.library.count("local LASTS = true") == 1
    assert "LASTS = true" not in script.source


def test_every_command_says_what_it_takes_and_gives():
    for text in texts().values():
        for found in re.finditer(r"^((?:--.*\n)+)Commands\['([a-z.]+)'\] =", text, re.MULTILINE):
            comment, command = found[1], found[2]
            assert re.search(rf"^-- {re.escape(command)}\b", comment, re.MULTILINE), command
        commands = re.findall(r"^Commands\['", text, re.MULTILINE)
        commented = re.findall(r"^--.*\nCommands\['", text, re.MULTILINE)
        assert len(commands) == len(commented)


def test_each_command_is_found_in_its_file():
    told = dict(re.findall(r" ([a-z.]+)=([a-z]+)", texts()["api"]))
    found = {
        command: name
        for name, text in texts().items()
        for command in re.findall(r"^Commands\['([a-z.]+)'\] =", text, re.MULTILINE)
    }

    assert told == found


REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


def reply_keys(text):
    """Find the keys of the JSON that a text tells of."""
    braces = "".join(re.findall(r"\{.*\}", text))
    return set(re.findall(r"""(?:\{|, |")(\w+)(?=[":,}])""", braces))


def reference(command):
    """Read what the reference says of a command, and of the one whose reply is the same."""
    sections = re.split(r"^##+ ", REFERENCE.read_text("utf-8"), flags=re.MULTILINE)
    title = re.compile(rf".*`{re.escape(command)}[ `]")
    text = " ".join(part.replace("\n", " ") for part in sections if title.match(part))
    same = re.search(r"Replies as `([a-z.]+)`", text)
    return text + (reference(same[1]) if same else "")


def test_the_reference_names_the_keys_of_each_reply():
    compared = {}
    for text in texts().values():
        for found in re.finditer(r"^((?:--.*\n)+)Commands\['([a-z.]+)'\] =", text, re.MULTILINE):
            keys = reply_keys(found[1].replace("\n--", ""))
            compared[found[2]] = keys - reply_keys(reference(found[2]))

    assert len(compared) > 40
    assert {command: missing for command, missing in compared.items() if missing} == {}


def test_the_script_is_printed_for_any_client(script):
    program = [sys.executable, "-m", "qless_core", "lua"]

    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    other = subprocess.run(
        [*program, "--namespace", "my'ns:"], capture_output=True, text=True, check=True
    ).stdout

    assert printed == script.source
    assert other == Script("my'ns:").source != printed


# How it is called


@pytest.fixture
def functions(redis):
    """Tell whether the server has functions; Redis 6 has none, and runs the script."""
    return int(redis.info("server")["redis_version"].split(".")[0]) >= 7


def calls_of(redis, name):
    return redis.info("commandstats").get(f"cmdstat_{name}", {"calls": 0})["calls"]


def test_a_function_that_the_server_does_not_know_is_loaded_once(run, redis, functions):
    run("put", 1, "w", "q", "j", "K", "{}", 0)
    assert run.as_function == functions
    if not functions:
        return
    redis.function_flush()
    redis.config_resetstat()

    assert run("length", 2, "q") == 1
    assert run("length", 3, "q") == 1

    assert calls_of(redis, "function|load") == 1
    assert calls_of(redis, "fcall") == 3
    assert calls_of(redis, "evalsha") == 0


def test_a_script_that_the_server_does_not_know_is_loaded_once(run, redis):
    run.as_function = False
    run("put", 1, "w", "q", "j", "K", "{}", 0)
    redis.script_flush()
    redis.config_resetstat()

    assert run("length", 2, "q") == 1
    assert run("length", 3, "q") == 1

    assert calls_of(redis, "script|load") + calls_of(redis, "script") == 1
    assert calls_of(redis, "evalsha") == 3


@pytest.mark.parametrize("kept", ["-fcall", "-function|load", "-fcall -function"])
def test_a_user_who_may_not_use_functions_runs_the_script(redis, script, server, kept, functions):
    if functions:
        redis.function_flush()
    rights = kept.split() if functions else ()
    redis.execute_command("ACL", "SETUSER", "narrow", "on", "nopass", "~*", "&*", "+@all", *rights)
    with Redis.from_url(
        server.url, username="narrow", password="", decode_responses=True
    ) as narrow:
        run = Runner(narrow, script)

        assert run("put", 1, "w", "q", "j", "K", "{}", 0) == "j"
        assert not run.as_function
    redis.acl_deluser("narrow")


def test_what_a_function_may_not_do_on_the_way_is_not_done_again_by_a_script(
    redis, script, server, functions
):
    redis.execute_command(
        "ACL", "SETUSER", "narrow", "on", "nopass", "~*", "&*", "+@all", "-publish"
    )
    with Redis.from_url(
        server.url, username="narrow", password="", decode_responses=True
    ) as narrow:
        redis.config_resetstat()
        with pytest.raises(errors.QlessError):
            Runner(narrow, script)("put", 1, "w", "q", "j", "K", "{}", 0)
        assert bool(calls_of(redis, "evalsha")) != functions
    redis.acl_deluser("narrow")


def test_what_reads_is_declared_to_write_nothing(run, redis, script, functions):
    run("put", 1, "w", "q", "j", "K", "{}", 0)

    refusal = "Write commands are not allowed" if functions else "unknown command"
    with pytest.raises(ResponseError, match=refusal):
        redis.fcall(f"{script.name}_reads", 0, "put", 2, "w", "q", "k", "K", "{}", 0)


def test_the_commands_that_read_are_those_whose_contract_says_so(script):
    contracts = {
        found[2]: found[1]
        for text in texts().values()
        for found in re.finditer(r"^((?:--.*\n)+)Commands\['([a-z.]+)'\] =", text, re.MULTILINE)
    }
    read = {name for name, contract in contracts.items() if "Reads only" in contract}

    assert read - {"tag", "track"} == script.reads


@pytest.mark.parametrize("as_function", [True, False])
def test_b67_an_error_of_the_script_is_not_tried_again(redis, as_function, functions):
    broken = Script()
    body = "redis.call('INCR', 'tries') error('broken')"
    broken.source = body
    broken.sha = redis.script_load(broken.source)
    broken.name = "broken"
    broken.library = f"#!lua name=broken\nredis.register_function('broken', function() {body} end)"
    run = Runner(redis, broken)
    run.as_function = as_function and functions

    with pytest.raises(errors.ScriptFault):
        run("put", 1)

    assert redis.get("tries") == "1"


@pytest.mark.parametrize("as_function", [True, False])
def test_a_command_whose_answer_is_lost_is_not_sent_again(run, redis, as_function, functions):
    """The server carries it out, and closes the connection before it answers."""
    as_function = as_function and functions
    run.as_function = as_function
    run("put", 1, "w", "q", "first", "K", "{}", 0)
    redis.config_resetstat()
    with cut_off(redis) as cut:
        deaf = Runner(cut, run.script)
        deaf.as_function = as_function

        with pytest.raises(errors.OutcomeUnknown, match="put"):
            deaf("put", 2, "w", "q", "j", "K", "{}", 0)
        with pytest.raises(errors.RedisUnavailable) as caught:
            deaf("get", 3, "j")

    assert not isinstance(caught.value, errors.OutcomeUnknown)
    assert run("length", 4, "q") == 2
    assert calls_of(redis, "fcall" if as_function else "evalsha") == 3


def test_a_key_of_another_type_is_named(run, redis):
    redis.sadd("ql:config", "not a hash")
    redis.set("ql:q:mail-work", "not a sorted set")

    with pytest.raises(errors.ForeignData, match="ql:config holds a set where a hash belongs"):
        run("config.get", 1, "heartbeat")
    redis.delete("ql:config")
    with pytest.raises(errors.ForeignData) as refused:
        run("peek", 1, "mail", 5)
    assert refused.value.key == "ql:q:mail-work"


def test_a_fault_names_the_file_and_the_line(run):
    text = "user_function:8: attempt to index nil, on @user_function:8."
    fault = run.translate(ResponseError(text))
    assert isinstance(fault, errors.ScriptFault)
    assert fault.where == "base.lua:7"
    assert "attempt to index nil, on base.lua:7" in str(fault)


@pytest.mark.parametrize(
    ("call", "file"),
    [
        (("put", 1), "put"),
        (("put", 1, "w", "q", "j", "K", "{}", 0, "tags"), "put"),
        (("put", 1, "w", "q", "j", "K", "{}", 0, "depends", '["j"]'), "put"),
        (("heartbeat", 1, "j", "w"), "heartbeat"),
        (("complete", 1, "j", "w", "q", "{}", "delay", 5), "complete"),
        (("get", 1), "job"),
        (("tag", 1, "add", "j", "t"), "tags"),
        (("recur.update", 1, "r", "interval", 0), "recurring"),
        (("recur.tag", 1, "r", "t"), "recurring"),
        (("depends", 1, "j", "off", "all"), "dependencies"),
        (("frob", 1), "main"),
    ],
)
def test_the_line_of_a_refusal_is_in_the_file_of_the_command(redis, lua, script, call, file):
    with pytest.raises(ResponseError) as caught:
        redis.evalsha(lua.sha, 0, *call)

    assert re.search(r"(\w+)\.lua:\d+: ", script.locate(str(caught.value)))[1] == file


@pytest.mark.parametrize(
    ("call", "kind", "fields"),
    [
        (("frob", 1), errors.UnknownCommand, {}),
        (("put", 1), errors.BadArgument, {}),
        (("heartbeat", 1, "no such", "w"), errors.JobNotFound, {"jid": "no such"}),
        (
            ("heartbeat", 1, "waits", "w"),
            errors.JobNotRunning,
            {"jid": "waits", "state": "waiting"},
        ),
        (("fail", 1, "runs", "other", "g", "m"), errors.LockLost, {"jid": "runs", "worker": "w 1"}),
        (
            ("cancel", 1, "waits"),
            errors.HasDependents,
            {"jid": "waits", "dependents": ("depends",)},
        ),
        (
            ("depends", 1, "runs", "on", "waits"),
            errors.NotWaitingOnDependencies,
            {"jid": "runs", "state": "running"},
        ),
        (("recur.tag", 1, "no such", "t"), errors.RecurringJobNotFound, {"jid": "no such"}),
    ],
)
def test_a_refusal_becomes_the_error_of_its_code(run, call, kind, fields):
    run("put", 1, "w", "p", "runs", "K", "{}", 0)
    run("pop", 1, "p", "w 1", 1)
    run("put", 1, "w", "q", "waits", "K", "{}", 0)
    run("put", 1, "w", "q", "depends", "K", "{}", 0, "depends", '["waits"]')

    with pytest.raises(kind) as caught:
        run(*call)

    assert type(caught.value) is kind
    assert {name: getattr(caught.value, name) for name in fields} == fields
    assert "user_script" not in str(caught.value)


def test_a_server_that_is_not_there_is_unavailable(script, tmp_path):
    redis = Redis(unix_socket_path=str(tmp_path / "nowhere"))

    with pytest.raises(errors.RedisUnavailable):
        Runner(redis, script)("queues", 1)


def test_b71_a_full_server_is_unavailable_but_can_be_read(run, redis):
    run("put", 1, "w", "q", "j", "K", "{}", 0)
    redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(errors.RedisUnavailable):
            run("put", 2, "w", "q", "k", "K", "{}", 0)
        assert run("get", 3, "j")
        assert run("queues", 3)
    finally:
        redis.config_set("maxmemory", 0)


def test_both_protocols_answer_alike(server, lua, script):
    lua.put(1, "j", "tags", '["x"]')
    calls = [
        ("get", 2, "j"),
        ("get", 2, "gone"),
        ("config.get", 2, "heartbeat"),
        ("config.get", 2, "unknown"),
        ("jobs", 2, "complete"),
        ("length", 2, "q"),
        ("track", 2, "track", "j"),
        ("track", 2, "untrack", "j"),
        ("heartbeat", 2, "j", "w"),
        ("pop", 2, "q", "w", 1),
        ("heartbeat", 3, "j", "w"),
        ("complete", 4, "j", "w", "q", "{}"),
        ("pause", 5, "q"),
    ]
    answers = []
    for protocol in (2, 3):
        lua.redis.flushdb()
        lua.put(1, "j", "tags", '["x"]')
        with Redis.from_url(server.url, protocol=protocol, decode_responses=True) as redis:
            answers.append([attempt(redis, script, call) for call in calls])

    assert answers[0] == answers[1]


def attempt(redis, script, call):
    try:
        return redis.evalsha(script.sha, 0, *call)
    except ResponseError as error:
        return str(error)


# The moment


def test_auto_is_the_time_of_the_server(lua, redis):
    """Q18."""
    lua.put("auto", "j", delay=100)

    seconds, _ = redis.time()
    assert abs(redis.zscore("ql:q:q-scheduled", "j") - 100 - seconds) < 60
    assert lua.popped("auto") == []


@pytest.mark.parametrize("now", ["0", "1e11", "1600000000", "1600000000.123456", "1.6e9"])
def test_a_number_is_taken_as_it_is(lua, now):
    assert lua.put(now, "j") == "j"


# Other namespaces


def test_every_key_and_channel_is_in_the_namespace(redis):
    script = Script("shop'\\\n:")
    run = Runner(redis, script)
    heard = redis.pubsub(ignore_subscribe_messages=True)
    heard.psubscribe("*")

    run("put", 1, "w", "q", "j", "K", "{}", 0, "tags", '["x"]')
    run("track", 1, "track", "j")
    run("pop", 2, "q", "w", 1)
    run("fail", 3, "j", "w", "g", "m")
    run("recur", 4, "q", "r", "K", "{}", "interval", 60, 0)
    run("pop", 5, "q", "w", 1)
    run("config.set", 6, "heartbeat", 5)
    run("pause", 7, "q")

    assert all(key.startswith(script.namespace) for key in redis.scan_iter("*"))
    channels = []
    while (message := heard.get_message(timeout=0.2)) or not channels:
        if message:
            channels.append(message["channel"])
    assert len(channels) == 6
    assert all(channel.startswith(script.namespace) for channel in channels)
    heard.close()


def test_a_namespace_with_a_hash_tag_takes_its_tag_as_the_one_key(redis):
    script = Script("{shop}:")
    assert script.keys == ("{shop}",)
    redis.script_load(script.source)

    assert Runner(redis, script)("put", 1, "w", "q", "j", "K", "{}", 0) == "j"

    for keys in ((), ("{other}",), ("{shop}", "{shop}")):
        with pytest.raises(ResponseError, match=r"BAD_ARGUMENT .*takes the one key \{shop\}"):
            redis.evalsha(script.sha, len(keys), *keys, "length", 1, "q")


# Reading

READING = [
    ("get", "j"),
    ("multiget", "j", "k", "gone"),
    ("operation.look", "op", 0, 5),
    ("operation.fare", "op", 0, 5),
    ("shard.leaving", 5),
    ("peek", "q", 10),
    ("jobs", "complete"),
    ("jobs", "running", "q"),
    ("jobs", "stalled", "q"),
    ("jobs", "scheduled", "q"),
    ("jobs", "depends", "q"),
    ("jobs", "throttled", "q"),
    ("jobs", "recurring", "q"),
    ("worker.info", "w", "nobody"),
    ("progress.get", "j"),
    ("failed",),
    ("failed", "g"),
    ("tag", "get", "x"),
    ("tag", "get", "x", 0, 5, "open-first"),
    ("tag", "top"),
    ("track",),
    ("queues",),
    ("queues", "q"),
    ("length", "q"),
    ("workers",),
    ("workers", "w"),
    ("stats", "q", 100),
    ("config.get",),
    ("config.get", "heartbeat"),
    ("recur.get", "r"),
    ("recur.get", "c"),
    ("recur.next", "c"),
    ("cron.due",),
    ("throttle.get", "t"),
    ("throttle.locks", "t"),
    ("throttle.pending", "t"),
    ("throttle.ttl", "t"),
    ("queue.throttle.get", "q"),
    ("bulk.closure", "k"),
    ("bulk.states", "g", 0, 5),
    ("jobs.walk", "waiting", "q", 10),
    ("archive.next", "archiver", 0, 10),
    ("audit.scan", 0, 1000),
    ("audit.walk", "work", "q", 0, 10),
    ("audit.look", '["job","k"]'),
]


@pytest.fixture
def reader(server, redis, lua, functions):
    """Connect as a user who may only read, to a server with something of everything, all due."""
    lua.put(1, "j", "tags", '["x"]', delay=5)
    lua.put(1, "k")
    lua.put(1, "l", "depends", '["k"]')
    lua.put(1, "f")
    for _ in range(2):
        lua.pop(2)
    lua("fail", 3, "f", "w", "g", "m")
    lua.put(3, "m", "tags", '["x"]')
    lua("track", 3, "track", "j")
    redis.hset("ql:j:j", "progress", '{"done":1}')
    lua("recur", 3, "q", "r", "K", "{}", "interval", 10, 0)
    lua("cron", 3, "q", "c", "K", "{}", "* * * * *", "UTC", "[4,60]")
    redis.hset("ql:j:m", "history", '[{"q":"q","put":1}]')
    redis.hset("ql:web:operation:op", mapping={"action": "cancel", "form": "jids", "at": "1"})
    redis.lpush("ql:web:operation:op:list", "ff", "wj", "wk")
    rights = ["resetchannels", "~ql:*", "&ql:*", "+@read", "+@connection", "+evalsha", "+time"]
    rights += ["+evalsha_ro"] if functions else []
    redis.execute_command("ACL", "SETUSER", "reader", "on", "nopass", *rights)
    with Redis.from_url(server.url, username="reader", password="x") as reader:  # noqa: S106 - anything
        yield reader
    redis.execute_command("ACL", "DELUSER", "reader")


@pytest.mark.parametrize("call", READING, ids=str)
@pytest.mark.parametrize("now", [4, 1_000_000, "auto"])
def test_reading_writes_nothing_and_needs_no_more_than_reading(
    reader, lua, script, functions, call, now
):
    command, *arguments = call
    before = lua.stored()

    reply = reader.evalsha(script.sha, 0, command, now, *arguments)

    if functions:
        again = reader.evalsha_ro(script.sha, 0, command, now, *arguments)
        assert reply == again or now == "auto"
    assert reply is not None
    assert lua.stored() == before
    with pytest.raises((NoPermissionError, ResponseError)):
        reader.evalsha(script.sha, 0, "put", 5, "w", "q", "n", "K", "{}", 0)
    assert lua.stored() == before


def test_what_reads_says_so_in_its_file():
    said = set()
    for text in texts().values():
        for found in re.finditer(r"^((?:--.*\n)+)(?:Commands\['([a-z.]+)'\])", text, re.MULTILINE):
            if "Reads only" in found[1]:
                said.add(found[2])
    assert said | {"tag"} == {call[0] for call in READING}


# A full server

#: A recurring job as `shard.leave` tells of it.
LUGGAGE = (
    "86a57175657565a171a66669656c647394a36a6964a56f6674656ea57175657565a171a477686174a57265637572"
    "a472756e7390a7706c616e6e6564a0a573636f7265a135"
)


@pytest.fixture
def full(redis, lua):
    """Make a server with something of everything, and then without a byte to spare.

    Such a server runs no function at all that may write; of a script it refuses each command that
    may use memory, and only these.
    """
    lua.call_as_script()
    lua.put(1, "parent", "tags", '["x"]')
    lua.put(2, "child", "tags", '["x"]', "depends", '["parent"]')
    lua.put(3, "runs", "tags", '["x"]', queue="p")
    lua.pop(4, queue="p")
    lua.put(5, "failed", "tags", '["x"]', queue="f")
    lua.pop(6, queue="f")
    lua("fail", 7, "failed", "w", "g", "m")
    lua.put(8, "later", delay=1000)
    lua.put(9, "lost", queue="l")
    lua.pop(10, queue="l")
    lua("recur", 11, "q", "r", "K", "{}", "interval", 10, 0)
    lua("recur.pause", 11, "r")
    lua("cron", 11, "q", "c", "K", "{}", "* * * * *", "UTC", "[60,120]")
    lua("throttle.set", 12, "t", 1)
    lua.put(12, "held", "throttles", '["t"]', queue="th")
    lua.pop(12, queue="th")
    lua.put(13, "kept", "throttles", '["t"]', queue="th")
    assert lua.job("kept")["state"] == "throttled"
    lua("worker.beat", 14, "w", '{"started":1,"state":"running"}')
    lua("wait.pop", 15, "w", 1, "waiter", "group", "all", "empty")
    lua("put", 16, "w", "done", "done", "K", "{}", 0)
    lua.pop(17, queue="done")
    lua("complete", 18, "done", "w", "done", "{}")
    _store_what_no_command_puts(redis)
    redis.config_set("maxmemory", 1)
    yield lua
    redis.config_set("maxmemory", 0)


def _store_what_no_command_puts(redis):
    """Store jobs that are gone, and an operation of the console."""
    redis.lpush("ql:f:ghosts", "ghost")
    redis.zadd("ql:q:q-work", {"ghost": 0})
    operation = {"action": "cancel", "form": "jids", "state": "queued", "run": "1", "total": "1"}
    redis.hset("ql:web:operation:op", mapping=operation)
    redis.hset("ql:web:operation:draft", mapping=operation | {"state": "draft"})
    undo = {"action": "undo", "of": "was", "state": "draft", "total": "1"}
    redis.hset("ql:web:operation:back", mapping=undo)
    redis.hset("ql:web:operation:was", mapping=operation | {"state": "done"})
    redis.lpush("ql:web:operation:op:list", "ffailed")


WRITES = [
    ("put", "w", "p", "parent", "K", "{}", 0),
    ("put", "w", "p", "child", "K", "{}", 0, "depends", '["later"]'),
    ("put", "w", "p", "runs", "K", "{}", 0),
    ("put", "w", "p", "failed", "K", "{}", 5, "tags", '["y"]'),
    ("put", "w", "p", "new", "K", "{}", 0),
    ("pop", "q", "w", 5),
    ("pop", "l", "w", 5),
    ("heartbeat", "runs", "w", "{}"),
    ("complete", "runs", "w", "p", "{}"),
    ("complete", "runs", "w", "p", "{}", "next", "q", "depends", '["later"]'),
    ("fail", "runs", "w", "g", "m"),
    ("retry", "runs", "p", "w"),
    ("timeout", "runs"),
    ("cancel", "failed", "runs", "later"),
    ("unfail", "q", "g"),
    ("priority", "parent", 5),
    ("tag", "add", "parent", "z"),
    ("tag", "remove", "parent", "x"),
    ("depends", "child", "off", "all"),
    ("depends", "later", "on", "parent"),
    ("track", "track", "parent"),
    ("log", "parent", "m"),
    ("pause", "q"),
    ("config.set", "heartbeat", 5),
    ("recur", "p", "r", "K", "{}", "interval", 10, 0),
    ("recur.update", "r", "queue", "p", "interval", 20),
    ("recur.tag", "r", "t"),
    ("recur.pause", "c"),
    ("recur.unpause", "r"),
    ("recur.run", "r"),
    ("recur.run", "c"),
    ("reschedule", "delay", 5, "later"),
    ("edit", "later", "data", "", "[1]"),
    ("edit", "failed", "retries", "", 9),
    ("recur", "p", "c", "K", "{}", "interval", 10, 0),
    ("cron", "p", "c", "K", "{}", "5 * * * *", "UTC", "[600]"),
    ("cron", "p", "r", "K", "{}", "5 * * * *", "UTC", "[600]"),
    ("cron.refill", "c", "* * * * *", "UTC", 120, "[600]"),
    ("recur.update", "c", "queue", "p", "cron", "5 * * * *", "runs", "[600]"),
    ("put.new", "w", "p", "failed", "K", "{}", 0),
    ("operation.freeze", "op", "jids", "parent"),
    ("operation.freeze", "new", "group", "g", "", 0),
    ("operation.start", "draft", 1),
    ("operation.undo", "back"),
    ("operation.freeze", "new", "list", "op"),
    ("operation.rest", "op", "paused", ""),
    ("operation.step", "op", 1, 5, 1),
    ("shard.leave", "journey", "later"),
    ("shard.leave", "journey", "r"),
    ("shard.arrive", "journey", "often", LUGGAGE),
    ("bulk.move", "", "p", "parent", "", "failed", ""),
    ("bulk.cancel", "", "later", "", "failed", ""),
    ("bulk.cancel", "", "later", ""),
    ("cancel", "later"),
    ("unfail", "q", "ghosts"),
    ("requeue", "w", "p", "parent", "K", "{}", 0),
    ("bulk.put", "w", "p", 0, "new", "K", "{}", 0, 0, "parent", "K", "{}", 0, 0),
    ("bulk.complete", "w", "", 0, "runs", "p", "{}"),
    ("bulk.complete", "w", "next", 5, "runs", "p", "{}"),
    ("complete.pop", "q", 1, "runs", "w", "p", "{}"),
    ("turn", "w", 1, 1, "q"),
    ("turn", "w", 1, 1, "q", "runs", "p", "{}"),
    ("once", "request", "unpause", "q"),
    ("once.next", "sender", 1, 60, "unpause", "q"),
    ("giveback", "runs", "w", 0, "stopped", "{}"),
    ("giveback", "runs", "w", 1, "died", "{}", "g", "m"),
    ("giveback.all", "w", "died", "{}", '["runs"]'),
    ("progress", "runs", "w", 1),
    ("wait.pop", "w", 1, "", "group", "all", "q"),
    ("wait.pop", "w", 1, "waiter", "group", "all", "empty"),
    ("wait.look", "waiter", "group", "q"),
    ("wait.leave", "waiter", "group"),
    ("worker.beat", "other", '{"started":1}'),
    ("worker.ask", "w", "stop"),
    ("recur.untag", "r", "t"),
    ("throttle.set", "t", 2),
    ("throttle.release", "t", "held"),
    ("throttle.release", "t", "kept"),
    ("throttle.delete", "t"),
    ("queue.throttle.set", "p", 1),
    ("archive.done", "archiver", "", "18 done"),
    ("audit.repair", "entry-without-job", "clean", '["entry","work","q","ghost"]'),
    ("audit.repair", "group-not-listed", "clean", '["group","ghosts"]'),
]

#: Commands that need no memory.
FREEING = {
    "shard.settle",
    "unpause",
    "unrecur",
    "queue.forget",
    "config.unset",
    "worker.deregister",
}

#: Commands that do without what they cannot write, as nobody is the worse for it.
SPARING = {"wait.wake"}


def test_each_command_that_writes_is_tried_in_a_full_server(script):
    writing = set(re.findall(r" ([a-z.]+)=", texts()["api"])) - script.reads

    assert writing == {call[0] for call in WRITES} | FREEING | SPARING


@pytest.mark.parametrize("call", WRITES, ids=str)
def test_b71_a_full_server_refuses_a_call_before_it_has_changed_anything(full, call):
    command, *arguments = call
    before = full.stored()

    with pytest.raises(ResponseError, match=r"OOM|maxmemory"):
        full(command, 500, *arguments)

    assert full.stored() == before


def test_b71_what_only_takes_away_goes_on(full, functions):
    """A full server runs no function that may write, whatever it would: the script is called."""
    run = Runner(full.redis, full.script)

    assert run("unpause", 500, "q") is None
    assert run("unrecur", 500, "r") == 1
    assert run("unrecur", 500, "c") == 1
    assert run("queue.forget", 500, "q") is None
    assert run("config.unset", 500, "heartbeat") is None
    assert run("worker.deregister", 500, "w") is None
    assert run("wait.wake", 500, "waiter") is None
    assert run.as_function == functions
