"""What tests of the console share: an app, a visitor of it, names that break things."""

from __future__ import annotations

import warnings
import zlib

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client as Browser

from qless_web import create_app
from tests.support.html import Visitor

#: Names that have broken addresses, forms, selectors and pages.
AWKWARD = (
    "default",
    "a/b",
    "..",
    "a/running",
    "retry",
    "x.json",
    "ü ~2F",
    "q?x=1#y&z",
    "<b>&amp;'\"",
    "a\nb",
    "a\r\nb",
    "%2F",
    "~41",
    "🙂",
    "long-" * 300,
)


@pytest.fixture(params=AWKWARD, ids=lambda name: ascii(name)[1:21])
def awkward(request):
    """Give each of the awkward names in turn."""
    return request.param


@pytest.fixture
def prefix(request):
    """Mount the console at the root for half of the tests, under a prefix for the other half."""
    return "/ops" if zlib.crc32(request.node.nodeid.encode()) % 2 else ""


@pytest.fixture
def app(client):
    """Make the console of an empty server."""
    return create_app(client)


@pytest.fixture
def visit(prefix):
    """Make visitors of an app."""

    def visitor(app, **headers):
        mounted = DispatcherMiddleware(_outside, {prefix: app}) if prefix else app
        return Visitor(Browser(Lint(mounted)), prefix, headers)

    return visitor


@pytest.fixture
def web(app, visit):
    """Visit the console."""
    return visit(app)


class Lint(LintMiddleware):
    """Complains of breaches of WSGI and HTTP, but not of a Location that is a path: RFC 9110."""

    def check_headers(self, headers):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Absolute URLs required")
            super().check_headers(headers)


def _outside(environ, _start_response):
    pytest.fail(f"asked outside the prefix: {environ['PATH_INFO']}")
