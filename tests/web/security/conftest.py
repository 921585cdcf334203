"""What tests of who may do what share: people, consoles that want one to be somebody, visitors."""

from __future__ import annotations

import pytest

from qless_web import create_app
from qless_web.access import Grant
from qless_web.accounts.passwords import hashed
from qless_web.accounts.users import User, write
from tests.support.html import form
from tests.support.shop import Shop
from tests.web.actions.conftest import audit, stored  # noqa: F401 - fixtures

#: What a password costs here: as little as may be.
CHEAP = (10, 1, 1)
PASSWORD = "correct horse battery"  # noqa: S105 - of made-up people
KEY = "k" * 40


@pytest.fixture
def shop(client):
    return Shop(client)


@pytest.fixture(scope="session")
def digest():
    """Digest the password that everybody here has."""
    return hashed(PASSWORD, CHEAP)


@pytest.fixture
def people(tmp_path, digest):
    """Write a file with one of each role, and one who is limited."""
    place = tmp_path / "users"
    grants = {role: Grant(role) for role in ("viewer", "operator", "admin")}
    grants["limited"] = Grant("operator", queues=("mail*",), actions=("retry_*", "*_queue"))
    write(place, [User(name, grant, digest) for name, grant in grants.items()])
    return place


@pytest.fixture
def guarded(client, people):
    """Make a console that wants one to sign in."""
    return create_app(client, users_file=people, secret_keys=(KEY,))


def sign_in(web, name, password=PASSWORD, **fields):
    """Sign in as somebody does: by the form of the page."""
    return web.submit(form(web.page("/sign-in"), "Sign in"), name=name, password=password, **fields)
