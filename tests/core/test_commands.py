from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import qless_core
from qless_core.commands import Commands
from qless_core.errors import BadArgument, UnknownCommand

LUA = Path(qless_core.__file__).parent / "lua"

#: Commands that answer two shapes have a method for each.
SHAPES = {
    "operation.freeze": {
        *("operation_freeze", "operation_freeze_group"),
        *("operation_freeze_more", "operation_freeze_list"),
    },
    "once": set(),  # the runner's own: they wrap the others
    "once.next": set(),
    "failed": {"failed", "failed_group"},
    "tag": {"tag", "tag_get", "tag_top"},
    "track": {"track", "tracked"},
    "queues": {"queues", "queue"},
    "workers": {"workers", "worker"},
    "config.get": {"config_get", "config"},
}


def in_lua():
    text = "\n".join(path.read_text() for path in LUA.glob("*.lua"))
    return set(re.findall(r"^Commands(?:\.|\[')([\w.]+)(?:'\])? = ", text, re.MULTILINE))


def in_python():
    return {name for name, _ in inspect.getmembers(Commands, inspect.isfunction) if name[0] != "_"}


def test_every_command_of_the_script_has_a_method_and_the_reverse():
    lua = in_lua()
    expected = set().union(*(SHAPES.get(name, {name.replace(".", "_")}) for name in lua))

    assert {"put", "pop", "config.get", "recur.update", "worker.deregister"} <= lua
    assert in_python() == expected


def test_every_method_says_what_it_does():
    for name in in_python():
        assert getattr(Commands, name).__doc__, name


def test_a_command_that_does_not_exist_is_refused(client):
    with pytest.raises(UnknownCommand):
        Commands(client.commands._run)._call("nonsense")  # noqa: SLF001 - nobody else can say it


def test_b14_on_an_empty_server_lists_are_lists(client):
    commands = client.commands

    assert commands.queues() == commands.workers() == commands.tag_top() == []
    assert commands.peek("q", 5) == commands.pop("q", "w", 5) == commands.multiget("j") == []
    assert (commands.failed_group("g").jids, commands.tag_get("t").jids) == ((), ())
    assert (commands.tracked().jobs, commands.tracked().expired) == ((), ())
    assert (commands.worker("w").jobs, commands.worker("w").stalled) == ((), ())
    assert commands.jobs("complete") == commands.jobs("running", "q") == []
    assert commands.failed() == {}
    assert commands.cancel() == []
    commands.put("w", "q", "j", "Job", "{}", 0)
    job = commands.get("j")
    assert (job.tags, job.dependents, job.dependencies, job.throttles) == ((), (), (), ())
    assert len(job.history) == 1
    assert job.failure is None
    assert len(commands.stats("q", 0).wait.histogram) == 148


def test_a_job_that_others_wrote_oddly_is_still_read(client, redis):
    redis.hset("ql:j:odd", mapping={"jid": "odd", "klass": "K", "state": "waiting", "queue": "q"})
    redis.hset("ql:j:odd", mapping={"tags": '{"a":1}', "failure": "[]", "priority": "high"})
    redis.rpush("ql:j:odd-history", '[1,"put",{"queue":"q"}]', "nonsense")

    job = client.commands.get("odd")

    assert (job.jid, job.klass, job.priority, job.expires) == ("odd", "K", 0, 0)
    assert job.history[0].details == {"queue": "q"}


@pytest.mark.parametrize("value", [None, b"x", True, [1], float("nan"), float("-inf"), "\ud800"])
def test_what_redis_could_misread_is_never_sent(client, redis, value):
    with pytest.raises(BadArgument):
        client.commands.put("w", "q", "j", "Job", "{}", value)

    assert redis.keys() == []
