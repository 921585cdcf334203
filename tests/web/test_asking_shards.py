"""Shards that are silent, however many ask: they hold few threads, and none of another shard."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest
from flask import Flask, Response, abort, request

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import others
from qless_web.accounts.sessions import Sessions, end, ended_key
from qless_web.lanes import THREADS, Lanes
from qless_web.others import Others
from qless_web.shards import asking
from qless_web.shards.asking import Asking, TurnedAway
from tests.support.polling import PATIENCE_S, eventually

PAGES = 5 * THREADS


class Question:
    """Answered at once, but for one shard, which answers when the gate is open."""

    def __init__(self):
        self.gate = Event()
        self.asked = []
        self._lock = Lock()

    def __call__(self):
        name = request.script_root.removeprefix("/servers/")
        with self._lock:
            self.asked.append(name)
        if name == "silent":
            assert self.gate.wait(PATIENCE_S)
        return "an answer"


@pytest.fixture
def question():
    question = Question()
    yield question
    question.gate.set()


@pytest.fixture
def consoles():
    return {name: Flask(name) for name in ("silent", "here")}


@pytest.fixture
def lanes():
    return Lanes()


@pytest.fixture
def session():
    return Sessions(("k" * 40,), 60, 60).begin(0, "ada", "password")


def ask(asking_, question):
    with Flask("home").test_request_context("/"):
        return asking_.ask(question)


def test_whoever_waits_for_one_server_keeps_nobody_from_another(lanes):
    gate = Event()
    held = [lanes.begin("silent", gate.wait, PATIENCE_S) for _ in range(50)]
    try:
        assert lanes.begin("here", str, 7).result(PATIENCE_S) == "7"
    finally:
        gate.set()
    assert all(future.result(PATIENCE_S) for future in held)


def test_pages_that_are_made_at_once_hold_few_threads_of_a_silent_shard(
    consoles, lanes, question, monkeypatch
):
    monkeypatch.setattr(asking, "ANSWERS_S", 0.2)
    asked = Asking(consoles, lanes)

    with ThreadPoolExecutor(PAGES) as pages:
        told = [pages.submit(ask, asked, question) for _ in range(PAGES)]
        silent = [page.result().silent for page in told]

    assert all("silent" in each for each in silent)
    # What nobody had begun to ask when its page was made, nobody asks any more.
    question.gate.set()
    assert lanes.begin("silent", str, 7).result(PATIENCE_S) == "7"
    assert question.asked.count("silent") <= THREADS
    assert eventually(lambda: ask(asked, question).found.get("silent")) == "an answer"


def test_whoever_is_turned_away_by_one_shard_asks_the_others_no_more(consoles, lanes, question):
    """However many are: nothing of theirs is left to be done when the shard answers again."""
    consoles["here"].before_request(lambda: abort(Response("who are you?", 401)))
    asked = Asking({"here": consoles["here"], "silent": consoles["silent"]}, lanes)

    for _ in range(PAGES):
        with pytest.raises(TurnedAway):
            ask(asked, question)

    question.gate.set()
    assert lanes.begin("silent", str, 7).result(PATIENCE_S) == "7"
    assert question.asked.count("silent") <= THREADS


@pytest.mark.usefixtures("redis")  # it empties the server
def test_a_silent_shard_keeps_nobody_from_telling_the_others(server, session, monkeypatch, caplog):
    """It is told, too, as it answers before its client has given it up."""
    monkeypatch.setattr(others, "ANSWERS_S", 0.2)
    with EmbeddedServer() as stopped, Client(stopped.url) as silent, Client(server.url) as here:
        key = ended_key(here.keys, session)
        pid = silent.redis.info("server")["process_id"]
        os.kill(pid, signal.SIGSTOP)
        try:
            Others({"silent": silent, "here": here}, Lanes()).tell(end(session, 60))

            eventually(lambda: here.redis.exists(key))
            assert "could not be told" not in caplog.text
        finally:
            os.kill(pid, signal.SIGCONT)
        eventually(lambda: silent.redis.exists(key))


def test_a_shard_that_is_away_is_named_in_the_log(session, caplog):
    with Client("redis://127.0.0.1:1") as away:
        Others({"gone": away}, Lanes()).tell(end(session, 60))

        eventually(lambda: "the shard gone could not be told: " in caplog.text)
