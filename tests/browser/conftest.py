"""A real Chromium before a console that runs in this process, on the private server."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.serving import served

#: Where browsers are found that are on no PATH.
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def chromium() -> str | None:
    """Find a browser that is installed; without one Playwright's own is used."""
    found = [os.environ.get("QLESS_CHROMIUM"), *(shutil.which(name) for name in NAMES), MAC]
    return next((path for path in found if path and Path(path).exists()), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    path = chromium()
    launch = {**browser_type_launch_args, "args": list(FLAGS)}
    return {**launch, "executable_path": path} if path else launch


@pytest.fixture(scope="session")
def base_url():
    """Say that each test has a console of its own; the plugin's fixture warns under pytest 9."""
    return ""


#: What the browser says of an answer that is no 200, which many journeys lead to on purpose.
ANSWERED = "Failed to load resource: "


@pytest.fixture
def context(context):
    """Fail a test in which the browser complained: of a script, or of what the policy forbids."""
    complaints = []
    context.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    context.on("weberror", lambda raised: complaints.append(str(raised.error)))
    yield context
    assert [each for each in complaints if not each.startswith(ANSWERED)] == []


@pytest.fixture
def console(client):
    """Serve a console; the address of its first page."""
    with served(client) as site:
        yield site.url
