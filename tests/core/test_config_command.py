"""`qless-config`: options written to a file, compared, and stored again."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.processes import ROOT


@pytest.fixture
def run(server):
    """Run the command."""

    def command(*arguments, given=None):
        return subprocess.run(
            [
                sys.executable, "-m", "qless_core.config_command", arguments[0],
                "--redis-url", server.url, *map(str, arguments[1:]),
            ],
            cwd=ROOT,
            check=False,
            capture_output=True,
            input=given,
        )  # fmt: skip

    return command


@pytest.fixture
def file(tmp_path):
    """Write a file of options."""

    def write(options):
        place = tmp_path / "options.json"
        place.write_text(options if isinstance(options, str) else json.dumps(options))
        return place

    return write


def stored(redis):
    return redis.hgetall("ql:config")


def test_what_is_set_is_written_as_json(client, run):
    client.config["heartbeat"] = 300
    client.config["application"] = "shop ü"
    client.config["mail-max-concurrency"] = 4

    done = run("dump")

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {
        "application": "shop ü", "heartbeat": 300, "mail-max-concurrency": 4,
    }  # fmt: skip


def test_the_defaults_are_written_too_where_that_is_asked_for(client, run):
    client.config["heartbeat"] = 300

    found = json.loads(run("dump", "--all").stdout)

    assert found["heartbeat"] == 300
    assert found["grace-period"] == 10


def test_c15_what_was_written_is_stored_again_just_so(client, redis, run, tmp_path):
    client.config["heartbeat"] = 62.5
    client.config["mail-heartbeat"] = 5
    client.config["rate-limits"] = '{"app.Mail": [100, 60]}'
    redis.hset("ql:config", mapping={"somebody-else's": "text ü"})
    before = stored(redis)
    place = tmp_path / "kept.json"
    assert run("dump", place).returncode == 0
    client.config.clear()
    client.config["heartbeat"] = 1

    refused = run("load", "--clear", place)
    assert refused.returncode == 1
    assert b"somebody-else's" in refused.stderr
    assert stored(redis) == {"heartbeat": "1"}

    done = run("load", "--clear", "--force", place)

    assert done.returncode == 0
    assert stored(redis) == before


def test_loading_says_what_changed_and_leaves_the_rest(client, redis, run, file):
    client.config["heartbeat"] = 60
    client.config["grace-period"] = 5

    done = run("load", file({"heartbeat": 300, "stats-history": 7}))

    assert done.stdout.decode().splitlines() == [
        "heartbeat: 60 -> 300",
        "stats-history: (not set) -> 7",
    ]
    assert stored(redis) == {"heartbeat": "300", "grace-period": "5", "stats-history": "7"}


def test_clear_unsets_what_the_file_does_not_name(client, redis, run, file):
    client.config["heartbeat"] = 60
    client.config["grace-period"] = 5

    done = run("load", "--clear", file({"heartbeat": 60}))

    assert done.stdout.decode() == "grace-period: 5 -> (not set)\n"
    assert stored(redis) == {"heartbeat": "60"}


def test_the_standard_input_is_a_file_too(redis, run):
    assert run("load", "-", given=b'{"heartbeat": 9}').returncode == 0
    assert stored(redis) == {"heartbeat": "9"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"stats-history": 7, "heartbeat": "soon"}', "heartbeat must be a number of seconds"),
        ('{"stats-history": 7, "mail-max-concurrency": 1.5}', "mail-max-concurrency must be"),
        ('{"heartbeat": -1, "grace-period": "x"}', "grace-period must be a number"),
        ('{"application": ""}', "application must not be empty"),
        ('{"heartbeat": null}', "heartbeat must be a text or a number"),
        ('{"heartbeat": true}', "heartbeat must be a text or a number"),
        ('{"heartbeat": [1]}', "heartbeat must be a text or a number"),
        ('{"heartbeat": NaN}', "heartbeat must be"),
        ("[]", "must be a JSON object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_where_one_value_makes_no_sense_nothing_is_stored(client, redis, run, file, text, said):
    client.config["heartbeat"] = 60

    done = run("load", "--clear", file(text))

    assert done.returncode == 1
    assert said in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert stored(redis) == {"heartbeat": "60"}


def test_every_value_that_makes_no_sense_is_named(run, file):
    said = run("load", file({"heartbeat": -1, "grace-period": "x"})).stderr.decode()

    assert "heartbeat must be" in said
    assert "grace-period must be" in said


def test_a_difference_is_said_and_nothing_is_changed(client, redis, run, file):
    client.config["heartbeat"] = 60
    client.config["grace-period"] = 5
    before = stored(redis)

    done = run("diff", file({"heartbeat": 300, "grace-period": 5.0}))

    assert done.returncode == 1
    assert done.stdout.decode() == "heartbeat: 60 -> 300\n"
    assert stored(redis) == before
    assert run("diff", file({"heartbeat": "60", "grace-period": 5})).returncode == 0


def test_a_file_that_is_not_there_is_one_line(run, tmp_path):
    done = run("load", tmp_path / "none.json")

    assert done.returncode == 1
    assert done.stderr.decode().count("\n") == 1


def test_without_redis_it_says_so_and_hides_the_password():
    done = subprocess.run(
        [
            sys.executable, "-m", "qless_core.config_command", "dump",
            "--redis-url", "redis://:s3cr3t@127.0.0.1:1/0",
        ],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.startswith("qless-config: ")
    assert "s3cr3t" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["frob"], ["load"], ["dump", "--colour"]])
def test_a_command_line_that_makes_no_sense_is_refused(run, arguments):
    assert run(*arguments).returncode == 2
