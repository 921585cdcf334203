"""What the tests of pages share: a browser without JavaScript, and a page as its reader sees it."""

from __future__ import annotations

import pytest
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client as Browser

from qless_web import create_app
from tests.support.dom import parse


@pytest.fixture
def web(client):
    """Make a browser that looks at the console of an empty server."""
    return Browser(LintMiddleware(create_app(client)))


@pytest.fixture
def see(web):
    """Make a function that opens an address and reads its main part."""

    def open_page(path, status=200):
        response = web.get(path)
        assert response.status_code == status, path
        return parse(response.get_data(as_text=True)).one("main")

    return open_page
