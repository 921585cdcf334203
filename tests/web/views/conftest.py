"""What the tests of pages share: a browser without JavaScript, and a page as its reader sees it."""

from __future__ import annotations

import pytest
from jinja2 import BytecodeCache
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client as Browser

from qless_web import create_app
from tests.support.dom import parse


class Compiled(BytecodeCache):
    """Templates compiled once for the whole run, not once for each console."""

    def __init__(self):
        self.code = {}

    def load_bytecode(self, bucket):
        if bucket.key + bucket.checksum in self.code:
            bucket.bytecode_from_string(self.code[bucket.key + bucket.checksum])

    def dump_bytecode(self, bucket):
        self.code[bucket.key + bucket.checksum] = bucket.bytecode_to_string()


COMPILED = Compiled()


@pytest.fixture
def web(client):
    """Make a browser that looks at the console of an empty server."""
    app = create_app(client)
    app.jinja_env.bytecode_cache = COMPILED
    return Browser(LintMiddleware(app))


@pytest.fixture
def see(web):
    """Make a function that opens an address and reads its main part."""

    def open_page(path, status=200):
        response = web.get(path)
        assert response.status_code == status, path
        return parse(response.get_data(as_text=True)).one("main")

    return open_page
