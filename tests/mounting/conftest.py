"""What is documented of mounting, as files and commands that run here."""

from __future__ import annotations

import re
import shlex

import pytest
from recipes import here, read

from qless_core import Client
from tests.support.mounted import Programs, Site
from tests.support.ports import free_port

#: What a Django project has of its own.
SHOP = {
    "__init__.py": "",
    "settings.py": "SECRET_KEY = 'x'\nALLOWED_HOSTS = ['*']\nROOT_URLCONF = 'shop.urls'\n",
    "urls.py": (
        "from django.http import HttpResponse\nfrom django.urls import path\n"
        "urlpatterns = [path('', lambda request: HttpResponse('the shop'))]\n"
    ),
}


@pytest.fixture(scope="session")
def sections():
    """Give the sections of the page by their headings."""
    return read()


@pytest.fixture
def programs(tmp_path):
    programs = Programs(tmp_path)
    yield programs
    programs.end()


@pytest.fixture
def sites():
    """Make sites; their streams are left when the test ends, before the programs are ended."""
    made = []

    def site(url, authority=None):
        made.append(Site(url, authority))
        return made[-1]

    yield site
    for each in made:
        each.close()


@pytest.fixture
def live(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Make a client that goes by the server's time, as the console's."""
    with Client(server.url) as client:
        yield client


@pytest.fixture
def write(sections, server, tmp_path):
    """Write the files of a section, for the server of this test; more settings may be added."""

    def write(heading, **settings):
        more = "".join(f", {name}={value!r}" for name, value in settings.items())
        shop = tmp_path / "shop"
        if "Django" in heading:
            shop.mkdir()
            for name, text in SHOP.items():
                (shop / name).write_text(text)
        for text in sections[heading].blocks("python"):
            name = re.match(r"# ([\w/]+\.py)\n", text)[1]
            (tmp_path / name).write_text(here(text, server, more))

    return write


@pytest.fixture
def run(sections, write, programs, server, sites, tmp_path):
    """Write the files of a section and run its command; answers where the console is."""

    def run(heading, *flags, mount="/ops/qless", also=None, **settings):
        write(heading, **settings)
        for name, text in (also or {}).items():
            with (tmp_path / name).open("a") as file:
                file.write(text)
        port = free_port()
        more = "".join(f", {name}={value!r}" for name, value in settings.items())
        program, *args = shlex.split(here(sections[heading].command, server, more))
        place = {
            "gunicorn": ["--bind", f"127.0.0.1:{port}", "--no-control-socket"],
            "uvicorn": ["--port", str(port)],
        }
        programs.python(port, "-m", program, *place[program], *args, *flags)
        return sites(f"http://127.0.0.1:{port}{mount}")

    return run
