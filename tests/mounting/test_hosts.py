"""The console in other applications, each as the page documents it, in a real server process."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from journey import journey
from recipes import here

from qless_core import Client
from tests.support.mounted import Site
from tests.support.polling import eventually
from tests.support.ports import free_port

FLASK = "In Flask, or any WSGI application"
FASTAPI = "In FastAPI, Starlette, or any ASGI application"
DJANGO, DJANGO_ASGI = "In Django", "In Django with ASGI"
ASGI = (DJANGO_ASGI, FASTAPI)


def test_one_is_made_for_a_client_that_there_is(sections, server):
    (text,) = sections[""].blocks("python")
    names = {}

    exec(here(text, server), names)  # noqa: S102 - our own page

    answer = names["console"].test_client().get("/queues")
    assert answer.status_code == 200
    assert "staging" in answer.text


def test_by_itself_under_gunicorn(run, live):
    journey(run("By itself", mount=""), live)


@pytest.mark.parametrize("heading", [FLASK, DJANGO, DJANGO_ASGI, FASTAPI])
def test_in_an_application(run, live, heading):
    site = run(heading)

    journey(site, live)
    assert site.get("/ops/qlessons").status_code == 404
    if "Django" in heading:
        assert site.get("/").text == "the shop"


def test_in_starlette(live, write, programs, sites, tmp_path):
    write(FASTAPI)
    text = (tmp_path / "main.py").read_text()
    theirs = text.replace(
        "from fastapi import FastAPI", "from starlette.applications import Starlette"
    )
    (tmp_path / "main.py").write_text(theirs.replace("FastAPI()", "Starlette()"))
    port = free_port()
    programs.python(port, "-m", "uvicorn", "--port", str(port), "main:app")

    journey(sites(f"http://127.0.0.1:{port}/ops/qless"), live)


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("heading", [FLASK, *ASGI])
def test_streams_leave_room_for_pages_and_for_those_that_come_later(run, heading):
    site = run(heading, live_max_streams=12)
    streams = [site.listen("queues") for _ in range(12)]
    for stream in streams:
        stream.listener.wait_for("ready")

    assert site.get(f"{site.mount}/queues").status_code == 200
    refused = site.listen("queues")
    assert (refused.status, refused.answer.headers["Retry-After"]) == (503, "30")

    for stream in streams:
        stream.leave()
    eventually(lambda: site.listen("queues").status == 200)


@pytest.mark.parametrize("heading", [FLASK, *ASGI])
def test_a_body_in_chunks_is_taken(run, live, heading):
    site = run(heading)
    live.queues["mail"].put("Letter", {})

    answer = site.send_in_parts("/ops/qless/pause", b'{"queue":', b'"mail"}')

    assert answer.status_code == 200, answer.text
    assert live.queues["mail"].is_paused


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("heading", ASGI)
def test_an_answer_to_a_body_that_is_too_large_can_be_read(run, heading):
    site = run(heading)

    answer = site.post("/ops/qless/ticked/cancel", {"jids": "x" * 6_000_000})

    assert answer.status_code == 413
    assert "4 MB" in answer.text


@pytest.mark.parametrize("heading", ASGI)
def test_uvicorn_stops_while_pages_are_open(run, programs, heading):
    site = run(heading, "--timeout-graceful-shutdown", "1")
    stream = site.listen("queues")
    stream.listener.wait_for("ready")

    programs.end()

    stream.listener.wait_for_end()


def test_a_server_of_one_thread_serves_pages_that_poll(write, programs, sites, live, tmp_path):
    write("By itself")
    port = free_port()
    plain = tmp_path / "plain.py"
    plain.write_text(plain.read_text().replace("8000", str(port)))
    programs.python(port, "plain.py")
    site = sites(f"http://127.0.0.1:{port}")

    refused = site.listen("queues")

    assert (refused.status, refused.answer.headers["Retry-After"]) == (503, "30")
    journey(site, live, streams=False)
    assert "one request at a time" in programs.log


def test_an_adapter_that_does_not_tell_who_left_serves_pages_that_poll(
    write, programs, sites, live, tmp_path
):
    write(FASTAPI)
    main = tmp_path / "main.py"
    main.write_text(
        main.read_text().replace("a2wsgi", "starlette.middleware.wsgi").replace(", workers=64", "")
    )
    port = free_port()
    programs.python(port, "-m", "uvicorn", "--port", str(port), "main:app")
    site = sites(f"http://127.0.0.1:{port}/ops/qless")

    assert site.listen("queues").status == 503
    journey(site, live, streams=False)
    assert "use a2wsgi" in programs.log


@pytest.mark.usefixtures("redis")
def test_uvicorn_under_a_root_path(write, programs, sites):
    """As behind a proxy that cuts a prefix off, of which uvicorn is told."""
    write(FASTAPI)
    port = free_port()
    command = ("-m", "uvicorn", "--port", str(port), "--root-path", "/behind", "main:app")
    programs.python(port, *command)

    answer = sites(f"http://127.0.0.1:{port}").get("/ops/qless/queues")

    assert answer.status_code == 200
    addresses = set(re.findall(r'(?:href|src|action)="(/[^"]*)"', answer.text))
    assert len(addresses) > 10
    assert {each for each in addresses if not each.startswith("/behind/ops/qless/")} == set()


BREAK = "\n\n@console.get('/broken')\ndef broken():\n    raise LookupError('lost')\n"
TO_A_FILE = """
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"file": {"class": "logging.FileHandler", "filename": "errors"}},
    "root": {"handlers": ["file"], "level": "WARNING"},
}
"""


@pytest.mark.usefixtures("redis")
def test_errors_reach_the_signal_and_the_log(write, programs, sites, tmp_path):
    write(FASTAPI)
    write("Errors")
    main = tmp_path / "main.py"
    main.write_text(main.read_text() + BREAK)
    port = free_port()
    programs.python(port, "-m", "uvicorn", "--port", str(port), "told:app")
    site = sites(f"http://127.0.0.1:{port}/ops/qless")

    answer = site.get("/ops/qless/broken")

    assert answer.status_code == 500
    assert "did not expect" in answer.text
    assert site.get("/told").text == "[\"LookupError('lost')\"]"
    assert "GET /broken" in programs.log
    assert "LookupError: lost" in programs.log


@pytest.mark.parametrize("heading", [DJANGO, DJANGO_ASGI])
@pytest.mark.usefixtures("redis")
def test_errors_reach_the_handlers_that_django_is_told_of(run, tmp_path, heading):
    module = "shop/asgi.py" if heading == DJANGO_ASGI else "shop/wsgi.py"
    site = run(heading, also={module: BREAK, "shop/settings.py": TO_A_FILE})

    assert site.get("/ops/qless/broken").status_code == 500

    told = (tmp_path / "errors").read_text()
    assert "GET /broken" in told
    assert "LookupError: lost" in told


def test_several_in_one_process_are_never_mixed(run, server, redis):  # noqa: ARG001 - it empties the server
    site = run("Several in one process", mount="")
    names = ("shop", "mail")
    spaces = {"shop": "ql:", "mail": "mail:"}
    with (
        Client(server.url) as shop,
        Client(server.url, namespace=spaces["mail"]) as mail,
        ThreadPoolExecutor(8) as pool,
    ):
        clients = {"shop": shop, "mail": mail}
        for name, client in clients.items():
            client.queues["same"].put("Job", {}, jid="same", tags=[f"of-{name}"])

        def ask(name):
            return name, site.get(f"/ops/{name}/jobs/same").text

        for name, text in pool.map(ask, names * 50):
            (other,) = set(names) - {name}
            assert f"of-{name}" in text
            assert f"of-{other}" not in text
            assert f"/ops/{other}" not in text

        done = site.post("/ops/mail/queues/same/pause", Origin=site.origin)
        assert "Path=/ops/mail/;" in done.headers["Set-Cookie"] + ";"
        assert (mail.queues["same"].is_paused, shop.queues["same"].is_paused) == (True, False)

        streams = {name: Site(f"{site.url}/ops/{name}").listen("queue:same") for name in names}
        for stream in streams.values():
            stream.listener.wait_for("ready")
        seen = len(streams["mail"].listener.messages)
        shop.queues["same"].put("Job", {})
        streams["shop"].listener.wait_for("change", "queue:same")
        assert "change" not in {each.event for each in streams["mail"].listener.messages[seen:]}
        for stream in streams.values():
            stream.leave()
