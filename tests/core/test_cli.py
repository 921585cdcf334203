from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import qless_core
from qless_core import cli, looking
from qless_core.options import OPTIONS
from qless_core.script import Script
from tests.support.polling import eventually

#: The commands of Redis that call the script.
CALLS = ("evalsha", "evalsha_ro", "fcall", "fcall_ro")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def qless(server, client, capsys):
    """Run the command; answers what it printed, as lines, after checking the exit code."""
    del client  # it empties the server

    def qless(*arguments, code=0):
        assert cli.main(["--redis-url", server.url, *map(str, arguments)]) == code
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return (said.err if code else said.out).splitlines()

    return qless


def test_a_job_is_put_with_every_option(qless, client):
    client.queues["q"].put("Job", {}, jid="first")

    (jid,) = qless(
        *("put", "q", "app.Mail", '{"n":0.1234567890123456789}', "--priority", 3, "--retries", 2),
        *("--tag", "a", "--tag", "b", "--depends", "first", "--jid", "mine"),
    )

    job = client.jobs["mine"]
    assert jid == "mine"
    assert (job.klass_name, job.priority, job.original_retries) == ("app.Mail", 3, 2)
    assert (job.tags, job.dependencies, job.state) == (["a", "b"], ["first"], "depends")
    assert job.raw_data == '{"n":0.1234567890123456789}'


def test_data_that_is_no_json_is_refused(qless, redis):
    assert "not JSON" in qless("put", "q", "Job", "{nonsense", code=1)[0]
    assert redis.keys() == []


@pytest.mark.parametrize("data", ['{"a":NaN}', '{"a":1e999}', "[-Infinity]"])
def test_numbers_that_json_has_not_are_refused(qless, redis, data):
    assert "JSON" in qless("put", "q", "Job", data, code=1)[0]
    assert redis.keys() == []


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["q", ""], "'' is no name of a class, as app.jobs.Mail is: it is empty"),
        (["q", "Job", "--jid", ""], "jid must be a text of UTF-8 that is not empty, got ''"),
        (["q", "Job", "--tag", "a", "--tag", ""], "--tag is empty"),
        (["q", "Job", "--depends", ""], "--depends is empty"),
    ],
)
def test_an_empty_name_is_refused(qless, redis, arguments, what):
    assert what in qless("put", *arguments, code=1)[0]
    assert redis.keys() == []


def test_a_job_that_is_to_wait_for_what_is_not_there_is_refused_if_strict(qless, client):
    (problem,) = qless("put", "q", "Job", "--depends", "gone", "--strict", code=1)
    assert "gone" in problem
    assert len(client.queues["q"]) == 0


def test_a_class_with_blanks_in_its_name_is_refused(qless, redis):
    assert "'no class' is no name of a class" in qless("put", "q", "no class", code=1)[0]
    assert redis.keys() == []


def test_a_name_that_is_none_of_a_class_is_refused(qless, redis):
    assert "'.evil' is no name of a class" in qless("put", "q", ".evil", code=1)[0]
    assert redis.keys() == []


def test_queues_are_counted(qless, client):
    client.queues["mail"].put("Job", {})
    client.queues["mail"].pause()

    head, line = qless("queues")

    assert head.split() == [
        *("queue", "waiting", "running", "stalled", "scheduled", "depends", "throttled"),
        *("recurring", "cron"),
    ]
    assert line.split() == ["mail", "1", "0", "0", "0", "0", "0", "0", "0", "paused"]


def test_queues_show_what_is_kept_back_and_what_recurs(qless, client):
    queue = client.queues["mail"]
    queue.throttle.maximum = 1
    for _ in range(3):
        queue.put("Job", {})
    queue.pop(2)
    queue.recur("Job", {}, 60, offset=1e9)
    queue.cron("Job", {}, "@yearly")

    line = qless("queues")[1].split()

    assert line == ["mail", "1", "0", "1", "0", "0", "1", "2", "1"]


def test_a_job_is_shown_with_its_attempts_and_history(qless, client, clock):
    job = client.jobs[client.queues["q"].put("Job", {}, jid="j")]
    client.queues["q"].pop()
    client.jobs["j"].log("half of it", {"of": [1, 2]})
    client.jobs["j"].retry()
    clock.advance(60)

    lines = qless("job", "j")

    told = [line.split(maxsplit=4)[3:] for line in lines if line.startswith("history:")]
    assert [job.jid, "attempt:      1"] == [lines[0].split()[1], lines[6]]
    assert told[:3] == [["put", "q=q"], ["popped", "worker=worker-1"], ["half", "of it  of=[1,2]"]]


def test_a_moment_beyond_the_calendar_is_shown_as_it_is(qless, client, redis):
    client.queues["q"].put("Job", {}, jid="j")
    redis.delete("ql:j:j-history")
    redis.rpush("ql:j:j-history", '[99999999999999,"put",{"q":"q"}]')

    assert qless("job", "j")[-1].split() == ["history:", "99999999999999", "put", "q=q"]


def test_the_statistics_of_a_queue_are_shown_by_day(qless, client, clock):
    client.queues["q"].put("Job", {})
    clock.advance(4)
    job = client.queues["q"].pop()
    clock.advance(2)
    job.complete()

    lines = qless("stats", "q", "2023-11-14")

    assert lines[:3] == ["failed:       0", "failures:     0", "retries:      0"]
    assert [line.split()[:3] for line in lines[4:]] == [
        ["wait", "1", "4.000"],
        ["run", "1", "2.000"],
    ]
    assert qless("stats", "q", "2023-11-15")[5].split() == ["run", "0", "0.000", "0.000", *"---"]
    assert "yesterday" in qless("stats", "q", "yesterday", code=1)[0]


def test_what_happens_is_printed_as_it_happens(server, client):
    command = [sys.executable, "-u", "-m", "qless_core", "--redis-url", server.url, "tail"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tail:
        eventually(lambda: client.redis.pubsub_numsub("ql:log")[0][1] == 1)
        client.queues["q"].put("Job", {}, jid="j")
        client.config["heartbeat"] = 30
        said = [tail.stdout.readline().split(maxsplit=2)[2].strip() for _ in range(2)]
        tail.send_signal(signal.SIGINT)

    assert said == ["put jid=j queue=q", "config_set option=heartbeat value=30"]
    assert tail.returncode == cli.INTERRUPTED


def test_jobs_of_every_state_are_listed(qless, client):
    """But complete ones, which are in no queue."""
    queue = client.queues["q"]
    for throttle in ("a", "b"):
        client.throttles[throttle].maximum = 1
    far = {"delay": 1e9}
    queue.put("Job", {}, jid="scheduled", **far)
    queue.put("Job", {}, jid="depends", depends=["scheduled"])
    queue.recur("Job", {}, 60, offset=1e9, jid="recurring")
    queue.put("Job", {}, jid="failed", priority=3)
    queue.pop().fail("g", "m")
    queue.put("Job", {}, jid="running", throttles=["a"], priority=2, heartbeat=1e9)
    queue.pop()
    queue.put("Job", {}, jid="throttled", throttles=["a"], priority=1)
    assert queue.pop() is None
    queue.put("Job", {}, jid="stalled", heartbeat=1)
    queue.pop()
    queue.put("Job", {}, jid="waiting")

    # The command goes by the time of the server, and that is later than the frozen one.
    expected = {state: [state] for state in looking.STATES} | {"waiting": ["stalled", "waiting"]}
    assert {state: qless("jobs", "q", state) for state in looking.STATES} == expected
    assert qless("jobs", "q", "failed", "--offset", 1) == []
    assert "complete" not in looking.STATES


def test_jobs_are_listed_by_state(qless, client):
    queue = client.queues["q"]
    for number in range(3):
        queue.put("Job", {}, jid=f"w{number}", priority=-number)
    # The command goes by the time of the server, and that is later than the frozen one.
    queue.put("Job", {}, jid="later", delay=1e9)

    assert qless("jobs", "q", "waiting") == ["w0", "w1", "w2"]
    assert qless("jobs", "q", "waiting", "--offset", 1, "--count", 1) == ["w1"]
    assert qless("jobs", "q", "scheduled") == ["later"]
    assert qless("jobs", "q", "running") == []


def test_a_job_is_shown(qless, client):
    client.queues["q"].put("app.Mail", {"to": "ü 🙂"}, jid="a", tags=["x"])
    client.queues["q"].pop().fail("boom", "it broke")
    client.queues["q"].recur("app.Report", {}, 60, jid="r")

    shown = "\n".join(qless("job", "a"))

    for text in ("app.Mail", "failed", "boom", "it broke", '{"to":"ü 🙂"}', "x"):
        assert text in shown
    assert "60 s" in "\n".join(qless("job", "r"))
    assert qless("job", "nobody", code=1) == ["qless: Job nobody does not exist"]


def test_what_a_terminal_would_obey_is_spelt_out(qless, client, redis):
    client.queues["q"].put("Job", {}, jid="j", tags=["a\x1b[2J\u202e"])
    redis.hset("ql:j:j", "klass", "\x00\x1b[31m\x9b\x7f")

    told = "\n".join(qless("job", "j"))

    assert r"\x00\x1b[31m\x9b\x7f" in told
    assert r"a\x1b[2J\u202e" in told
    assert "\x1b" not in told


def test_failures_are_counted_and_listed(qless, client):
    for name in "ab":
        client.queues["q"].put("Job", {}, jid=name)
        client.queues["q"].pop().fail("boom", "Traceback (most recent call last):\n  x\nError: y")

    assert qless("failed")[1].split() == ["boom", "2"]
    listed = qless("failed", "boom")
    assert {line.split()[0] for line in listed[1:3]} == {"a", "b"}
    assert "Error: y" in listed[1]
    assert listed[-1] == "2 of 2"


def test_failed_jobs_are_retried_in_their_own_or_another_queue(qless, client):
    for name in "ab":
        client.queues["q"].put("Job", {}, jid=name)
        client.queues["q"].pop().fail("boom", "message")

    assert qless("retry", "a") == ["a"]
    assert qless("retry", "b", "--queue", "other") == ["b"]

    assert (client.jobs["a"].state, client.jobs["a"].queue_name) == ("waiting", "q")
    assert (client.jobs["b"].state, client.jobs["b"].queue_name) == ("waiting", "other")
    client.queues["q"].recur("Job", {}, 60, jid="r")
    assert "recurring" in qless("retry", "r", code=1)[0]


def test_a_job_that_others_are_at_is_not_taken_from_them_by_a_retry(client, capsys):
    queue = client.queues["q"]
    queue.put("Job", {}, jid="running")
    queue.pop()
    queue.put("Job", {}, jid="failed")
    queue.pop().fail("boom", "message")
    queue.put("Job", {}, jid="later", delay=1e9)
    queue.put("Job", {}, jid="waiting")
    queue.put("Job", {}, jid="blocked", depends=["waiting"])
    client.config["heartbeat"] = 2e9  # the command goes by the time of the server
    client.jobs["running"].timeout()
    assert queue.pop().jid == "running"

    jids = ("running", "failed", "nobody", "later", "waiting", "blocked")
    assert cli.main(["--redis-url", client.url, "retry", *jids]) == cli.REFUSED

    said = capsys.readouterr()
    assert said.out.splitlines() == ["failed", "later"]
    assert said.err.splitlines() == [
        "qless: running was left alone: it is running",
        "qless: nobody was left alone: it does not exist",
        "qless: waiting was left alone: it is waiting",
        "qless: blocked was left alone: it waits for others",
    ]
    assert client.jobs["running"].worker_name == "worker-1"
    assert client.jobs["later"].state == "waiting"


def test_a_retry_sends_no_data_that_it_read_earlier(qless, client, redis):
    client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].pop().fail("boom", "message")
    redis.hset("ql:j:a", "data", '{"n": 1.10}')
    redis.config_resetstat()

    assert qless("retry", "a") == ["a"]

    assert redis.hget("ql:j:a", "data") == '{"n": 1.10}'
    stats = redis.info("commandstats")
    assert (
        sum(stats[f"cmdstat_{name}"]["calls"] for name in CALLS if f"cmdstat_{name}" in stats) == 1
    )


def test_jobs_are_cancelled_all_or_none(qless, client):
    client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].put("Job", {}, jid="b", depends=["a"])

    assert "dependency" in qless("cancel", "a", code=1)[0]
    assert qless("cancel", "a", "b") == ["a", "b"]
    assert client.jobs["a"] is None


def test_what_was_not_cancelled_is_not_said_to_be(client, capsys):
    for jid in ("done", "a"):
        client.queues["q"].put("Job", {}, jid=jid)
        if jid == "done":
            client.queues["q"].pop().complete()
    client.queues["q"].recur("Job", {}, 60, jid="r")

    assert cli.main(["--redis-url", client.url, "cancel", "done", "a", "nobody", "r"]) == 1

    said = capsys.readouterr()
    assert said.out.splitlines() == ["a"]
    assert said.err.splitlines() == [
        "qless: done was left alone: it is complete",
        "qless: nobody was left alone: it does not exist",
        "qless: r was left alone: it is a recurring job",
    ]
    assert client.jobs["done"].state == "complete"


def test_options_are_shown_set_and_unset(qless, client):
    lines = [line.split() for line in qless("config")]
    assert [line[0] for line in lines] == ["option", *(option.name for option in OPTIONS)]
    assert ["heartbeat", "60", "60", "seconds"] in lines
    assert ["<queue>-max-concurrency", "0", "jobs"] in lines

    qless("config", "set", "heartbeat", 30)
    assert qless("config", "get", "heartbeat") == ["30"]
    assert client.config["heartbeat"] == 30
    assert ["heartbeat", "30", "60", "seconds"] in [line.split() for line in qless("config")]
    qless("config", "unset", "heartbeat")
    assert qless("config", "get", "heartbeat") == ["60"]
    assert "not set" in qless("config", "get", "nothing", code=1)[0]
    assert "seconds" in qless("config", "set", "heartbeat", "often", code=1)[0]


def test_an_option_that_does_not_exist_is_set_by_force_alone(qless, client, redis):
    (problem,) = qless("config", "set", "heart-beat", 3, code=1)
    assert "there is no option 'heart-beat'" in problem
    assert redis.hgetall("ql:config") == {}

    qless("config", "set", "theirs", 3, "--force")
    qless("config", "set", "mail-heartbeat", 4)
    qless("config", "set", "mail-max-concurrency", 5)

    assert redis.hgetall("ql:config") == {
        "theirs": "3",
        "mail-heartbeat": "4",
        "mail-max-concurrency": "5",
    }
    lines = [line.split() for line in qless("config")]
    assert ["mail-max-concurrency", "5", "0", "jobs"] in lines
    assert ["theirs", "3", "(no", "option", "of", "qless)"] in lines
    qless("config", "unset", "theirs")
    assert "no option 'theirs'" in qless("config", "unset", "theirs", code=1)[0]
    assert "did you mean 'heartbeat'" in qless("config", "unset", "hartbeat", code=1)[0]
    assert "did you mean 'heartbeat'" in qless("config", "get", "hartbeat", code=1)[0]
    assert "did you mean 'heartbeat'" in qless("config", "set", "hartbeat", "5", code=1)[0]
    assert "theirs" not in client.config.all


@pytest.mark.parametrize(
    ("state", "hint"),
    [("complete", "qless job JID"), ("bad", "waiting, running")],
)
def test_a_state_that_is_no_list_of_a_queue_says_where_to_look(capsys, state, hint):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["jobs", "mail", state])

    assert hint in capsys.readouterr().err


def test_the_script_is_printed_without_a_server(capsys):
    assert cli.main(["--redis-url", "redis://localhost:1/0", "lua"]) == 0

    assert capsys.readouterr().out == Script().source


def test_the_script_is_printed_whatever_the_address_and_with_the_namespace_on_either_side(
    capsys, monkeypatch
):
    monkeypatch.setenv("REDIS_URL", "nonsense")

    for arguments in (["--namespace", "x:", "lua"], ["lua", "--namespace", "x:"]):
        assert cli.main(arguments) == 0
        assert capsys.readouterr().out == Script("x:").source
    assert cli.main(["queues"]) == cli.REFUSED


def test_b76_an_unreachable_server_is_told_of_without_password_or_traceback(capsys):
    assert cli.main(["--redis-url", "redis://:secret@localhost:1/0", "queues"]) == 1
    assert cli.main(["--redis-url", "redis://:sec/ret@localhost:1/0", "queues"]) == 1

    said = capsys.readouterr().err
    assert said.count("qless: ") == 2
    assert "secret" not in said
    assert "sec/ret" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["work"], ["jobs", "q", "happy"], ["put"]])
def test_a_command_line_that_makes_no_sense_shows_how_it_is_used(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)

    assert end.value.code == 2
    assert "usage: qless" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["queues", "--redis-ur=redis://:s3cret@h"],
        ["--redis-ur", "redis://s3cret@h", "queues"],
        ["--namespace", "ql:", "redis://:s3cret@h"],
        ["jobs", "mail", "waiting", "--count", "redis://:s3cret@h"],
        ["put", "q", "K", "--data", "redis://:s3cret@h"],
        ["--redis-url", "redis://h/0?pwd=s3cret", "queues"],
    ],
)
def test_b76_no_complaint_shows_a_password_in_the_wrong_place(arguments, capsys):
    with contextlib.suppress(SystemExit):
        cli.main(arguments)

    said = capsys.readouterr()
    assert said.err
    assert "s3cret" not in said.out + said.err


def test_text_that_the_terminal_cannot_show_is_written_another_way(server, client):
    client.queues["q"].put("Job", {"to": "ü 🙂"}, jid="a")

    done = subprocess.run(
        [sys.executable, "-m", "qless_core", "--redis-url", server.url, "job", "a"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C"},
        capture_output=True,
        check=True,
    )

    assert rb"\xfc \U0001f642" in done.stdout


def test_a_reader_who_leaves_early_is_no_error(server, client, monkeypatch):
    class Closed(io.StringIO):
        def write(self, _):
            raise BrokenPipeError

        def fileno(self):
            return os.open(os.devnull, os.O_WRONLY)

    client.queues["q"].put("Job", {})
    monkeypatch.setattr(sys, "stdout", Closed())

    assert cli.main(["--redis-url", server.url, "queues"]) == cli.REFUSED


def test_the_address_comes_from_the_environment(monkeypatch, server, client, capsys):
    client.queues["mail"].put("Job", {})
    monkeypatch.setenv("REDIS_URL", server.url)

    assert cli.main(["queues"]) == 0

    assert "mail" in capsys.readouterr().out


def test_completed_jobs_are_archived_to_a_file(qless, client, tmp_path):
    client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].pop().complete()
    path = tmp_path / "jobs.jsonl"

    assert qless("archive", "--to", str(path), "--settle", "-60") == ["1 jobs"]
    assert json.loads(path.read_text())["jid"] == "a"
    assert qless("archive", "--to", str(path), "--settle", "-60") == ["0 jobs"]
    assert qless("archive", "--to", str(path), "--settle", "-60", "--name", "b") == ["1 jobs"]


def test_an_archive_that_may_have_missed_jobs_or_cannot_be_written_says_so(qless, client, tmp_path):
    client.config["jobs-history-count"] = 1
    path = tmp_path / "jobs.jsonl"
    for jid in "abc":
        client.queues["q"].put("Job", {}, jid=jid)
        client.queues["q"].pop().complete()
        if jid == "a":
            qless("archive", "--to", str(path), "--settle", "-60")

    assert "more often" in qless("archive", "--to", str(path), "--settle", "-60", code=1)[-1]
    assert (
        "cannot be written"
        in qless("archive", "--to", str(tmp_path), "--name", "b", "--settle", "-60", code=1)[-1]
    )


def test_an_archive_into_no_folder_is_refused_before_there_is_a_job(qless, tmp_path):
    path = tmp_path / "gone" / "jobs.jsonl"

    assert "there is no folder" in qless("archive", "--to", str(path), code=1)[0]


def test_the_version_is_that_of_the_project(capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])

    assert end.value.code == 0
    assert capsys.readouterr().out == f"qless {project['version']}\n"
    assert qless_core.__version__ == project["version"]


def test_a_path_that_is_not_there_is_refused(qless, tmp_path):
    said = qless("work", "-q", "mail", "--path", tmp_path / "gone", code=1)

    assert said == [f"qless: --path: there is no '{tmp_path}/gone'"]
