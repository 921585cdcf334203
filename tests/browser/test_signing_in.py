"""Signing in and out as somebody does who sits there: by keyboard, on a phone, in the dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from qless_web.access import Grant
from qless_web.accounts.passwords import hashed
from qless_web.accounts.users import User, write
from tests.support.axe import findings
from tests.support.openid import CLIENT, SECRET, providing
from tests.support.serving import served

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"  # noqa: S105 - of made-up people


def test_somebody_signs_in_sees_whose_the_buttons_are_and_leaves(client, page, tmp_path):
    place = tmp_path / "users"
    write(place, [User("vera", Grant("viewer"), hashed(PASSWORD, (10, 1, 1)))])
    client.queues["mail"].put("A", {})
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    with served(client, users_file=place, secret_keys=("k" * 40,)) as site:
        page.goto(f"{site.url}/queues/mail")
        assert findings(page) == []
        page.keyboard.type("vera")
        page.keyboard.press("Tab")
        page.keyboard.type("wrong horse")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("That name and password do not go together.")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")

        expect(page.get_by_role("heading", level=1)).to_have_text("mail")
        expect(page.get_by_text("needs operator").first).to_be_attached()
        page.locator(".account summary").click()
        assert findings(page) == []
        page.get_by_role("button", name="Sign out").click()

        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        page.go_back()
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_somebody_signs_in_at_a_provider_on_another_site(client, page):
    """A browser keeps the cookies of the way there and back, and lets the page lead there."""
    with providing(client.now) as provider:
        provider.url = provider.url.replace("127.0.0.1", "localhost")
        told = {"oidc_client_id": CLIENT, "oidc_client_secret": SECRET, "secret_keys": ("k" * 40,)}
        with served(client, oidc_issuer=provider.url, **told) as site:
            page.goto(f"{site.url}/queues?sort=name")
            assert findings(page) == []
            page.get_by_role("link", name="Sign in with localhost").click()

            expect(page.get_by_role("heading", level=1)).to_have_text("Queues")
            assert page.url == f"{site.url}/queues?sort=name"
            page.locator(".account summary").click()
            expect(page.get_by_text("dana is viewer")).to_be_visible()
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
