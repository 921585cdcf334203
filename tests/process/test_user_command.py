"""`qless-web user`, and when the console starts on an address that others can reach."""

from __future__ import annotations

import http.client
import re
import stat
import subprocess
import sys
from contextlib import closing
from urllib.parse import urlencode

import pytest

PASSWORD = "correct horse battery"  # noqa: S105 - of made-up people


def user(command, *args, password=PASSWORD, **more):
    return subprocess.run(
        [sys.executable, "-m", "qless_web", "user", *args],
        check=False,
        capture_output=True,
        text=True,
        input=f"{password}\n",
        cwd=command.home,
        env=command.environment | more,
        timeout=60,
    )


@pytest.fixture
def command(qless_web):
    return qless_web


@pytest.fixture
def place(command):
    return command.home / "state" / "qless-web" / "users"


def test_users_are_added_listed_changed_and_removed(command, place):
    made = user(command, "add", "dana", "--role", "admin")
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"dana is admin from now on, in {place}\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert re.fullmatch(r"dana admin scrypt:15:8:3:\S+\n", place.read_text())
    before = place.read_text()

    user(command, "add", "erik", "--role", "operator", "--queues", "mail*,sms", "--no-password")
    assert user(command, "passwd", "dana").returncode == 0
    listed = user(command, "list").stdout
    assert listed == "dana admin\nerik operator signed in elsewhere queues=mail*,sms\n"
    assert before not in place.read_text()

    assert user(command, "remove", "dana").returncode == 0
    assert user(command, "list").stdout.splitlines() == listed.splitlines()[1:]
    assert [each.name for each in place.parent.iterdir()] == ["users"]


@pytest.mark.parametrize(
    ("args", "password", "said"),
    [
        (("add", "da na"), PASSWORD, "a name has letters"),
        (("add", "dana"), "short", "8 to 1,000 characters"),
        (("add", "dana", "--role", "owner"), PASSWORD, "owner"),
        (("add", "dana", "--queues", "a b"), PASSWORD, "without blanks"),
        (
            ("add", "dana", "--actions", "retry_*,nosuch*"),
            PASSWORD,
            "no action is called nosuch*; ",
        ),
        (("add", "dana", "--actions", "retry"), PASSWORD, "cancel_jobs, "),
        (("passwd", "kim"), PASSWORD, "there is no user 'kim' in "),
        (("remove", "kim"), PASSWORD, "there is no user 'kim' in "),
        (("change", "kim", "--role", "admin"), PASSWORD, "there is no user 'kim' in "),
        (("change", "kim"), PASSWORD, "say what changes: --role, --queues or --actions"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    command, place, args, password, said
):
    refused = user(command, *args, password=password)

    assert refused.returncode == 2
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not place.exists()


def test_what_somebody_may_do_is_changed_and_the_password_stays(command, place):
    user(command, "add", "dana", "--queues", "mail*")
    user(command, "add", "erik", "--no-password")
    _, _, password, _ = place.read_text().splitlines()[0].split()

    promoted = user(command, "change", "dana", "--role", "operator", "--actions", "retry_*")
    assert promoted.stdout == f"dana is operator from now on, in {place}\n"
    line = place.read_text().splitlines()[0]
    assert line == f"dana operator {password} queues=mail* actions=retry_*"

    refused = user(command, "change", "dana", "--actions", "retri_*")
    assert "no action is called retri_*; there are acknowledge_group, " in refused.stderr

    assert user(command, "change", "dana", "--queues", "").returncode == 0
    assert place.read_text() == f"dana operator {password} actions=retry_*\nerik viewer -\n"


def test_nobody_is_added_twice(command, place):
    user(command, "add", "dana", "--no-password")
    before = place.read_text()

    refused = user(command, "add", "dana", "--role", "admin")

    assert refused.returncode == 2
    assert "dana is there already; change or passwd" in refused.stderr
    assert place.read_text() == before


def test_a_file_that_is_not_there_is_said_at_the_start(command, server):
    started = command.run("-F", "-p", "0", "--users-file", "yes", "--redis-url", server.url)

    assert started.returncode == 2
    assert "users_file cannot be read" in started.stderr


def test_a_console_that_others_reach_wants_users_a_proxy_or_a_word(command, server):
    host = ("--host", "0.0.0.0")  # noqa: S104 - it is refused
    refused = command.run("-F", "-p", "0", *host, "--redis-url", server.url)

    assert refused.returncode == 2
    assert "qless-web user add" in refused.stderr


def test_a_session_outlives_the_console_and_holds_in_another_process(command, server):
    user(command, "add", "dana", "--role", "admin")
    flags = ("--users-file", "yes", "--redis-url", server.url)
    first = command.start(*flags, "--host", "0.0.0.0")  # noqa: S104 - with a sign-in
    second = command.start(*flags)
    assert get(first.port) == 303

    cookie = sign_in(first.port)
    assert get(first.port, cookie) == 200
    assert get(second.port, cookie) == 200
    first.end()
    again = command.start(*flags)

    assert get(again.port, cookie) == 200
    user(command, "remove", "dana")
    assert get(again.port, cookie) == 303
    assert get(second.port, cookie) == 303


def sign_in(port):
    body = urlencode({"name": "dana", "password": PASSWORD})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = asked(port, "POST", "/sign-in", body, headers)
    assert answer.status == 303
    return answer.headers["Set-Cookie"].split(";")[0]


def get(port, cookie=""):
    return asked(port, "GET", "/queues", headers={"Cookie": cookie} if cookie else {}).status


def asked(port, *request, **more):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(*request, **more)
        answer = connection.getresponse()
        answer.read()
        return answer
