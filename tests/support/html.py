"""A visitor without JavaScript: opens pages, finds forms by their buttons, submits them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from tests.support.dom import Element, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from werkzeug.test import Client as Browser
    from werkzeug.test import TestResponse

#: How htmx asks.
HTMX = {"HX-Request": "true"}


@dataclass
class Form:
    """A form of a page, as it would be submitted: its fields in order, where it goes and how."""

    address: str
    method: str
    fields: list[tuple[str, str]]
    buttons: list[str]

    def filled(self, values: Mapping[str, str | Iterable[str]]) -> dict[str, list[str]]:
        """Give what a browser sends when some fields are filled in; ends of lines as CR LF."""
        sent: dict[str, list[str]] = {}
        for name, value in self.fields:
            sent.setdefault(name, []).append(value)
        for name, given in values.items():
            sent[name] = [given] if isinstance(given, str) else list(given)
        return {name: [_crlf(each) for each in each_of] for name, each_of in sent.items()}

    def value(self, name: str) -> str:
        """Give the value of a field."""
        return next(value for each, value in self.fields if each == name)


@dataclass
class Visitor:
    """Somebody at a console that is mounted under a prefix; addresses leave the prefix out."""

    browser: Browser
    prefix: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> TestResponse:
        """Ask for an address."""
        return self.browser.get(self.prefix + path, headers=self._headers(headers))

    def post(self, path: str, data: Any = None, **headers: str) -> TestResponse:
        """Post to an address."""
        return self.browser.post(self.prefix + path, data=data, headers=self._headers(headers))

    def page(self, path: str, status: int = 200, **headers: str) -> Element:
        """Read a page."""
        response = self.get(path, **headers)
        assert response.status_code == status, (path, response.status_code)
        return parse(response.get_data(as_text=True))

    def submit(self, form: Form, **values: str | Iterable[str]) -> TestResponse:
        """Submit a form with some fields filled in."""
        inside = self._inside(form.address)
        sent = form.filled(values)
        if form.method == "get":
            return self.browser.get(self.prefix + inside, query_string=sent, headers=self.headers)
        return self.post(inside, sent)

    def follow(self, response: TestResponse) -> Element:
        """Go where an action sends us, and read that page."""
        assert response.status_code == 303, (response.status_code, response.text[:2000])
        location = response.headers["Location"]
        return self.page(self._inside(location))

    def _inside(self, address: str) -> str:
        parts = urlsplit(urljoin(f"{self.prefix}/", address))
        assert not parts.netloc, f"{address} leads out of the console"
        assert parts.path.startswith(f"{self.prefix}/"), f"{address} leads out of {self.prefix}"
        query = f"?{parts.query}" if parts.query else ""
        return parts.path.removeprefix(self.prefix) + query

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            **self.headers,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }


def forms(page: Element) -> list[Form]:
    """Read the forms of a page."""
    return [_form(each) for each in page.all("form")]


def form(page: Element, button: str) -> Form:
    """Give the only form that has such a button."""
    found = [each for each in forms(page) if button in each.buttons]
    known = sorted({each for one in forms(page) for each in one.buttons})
    assert len(found) == 1, f"{len(found)} forms with “{button}”; there are {known}"
    return found[0]


def question(page: Element) -> Form:
    """Give the form of the question that a page asks."""
    (asked,) = page.one("section", id="ask").all("form")
    return _form(asked)


def toasts(page: Element) -> str:
    """Give what the messages on a page say."""
    return " ".join(each.text for each in page.all("div", class_="toast-text"))


def _form(element: Element) -> Form:
    return Form(
        address=element.attributes.get("action", ""),
        method=element.attributes.get("method", "get").lower(),
        fields=[pair for each in element for pair in _pairs(each)],
        buttons=[each.text for each in element.all("button")],
    )


def _pairs(element: Element) -> list[tuple[str, str]]:
    name = element.attributes.get("name", "")
    if not name:
        return []
    if element.tag == "select":
        options = element.all("option")
        chosen = [each for each in options if "selected" in each.attributes] or options[:1]
        return [(name, each.attributes.get("value", each.text)) for each in chosen]
    if element.tag == "textarea":
        text = "".join(each for each in element.children if isinstance(each, str))
        return [(name, re.sub("\r\n?", "\n", text).removeprefix("\n"))]
    if element.tag == "input" and element.attributes.get("type") not in {"checkbox", "radio"}:
        return [(name, element.attributes.get("value", ""))]
    return []


def _crlf(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\n", "\r\n")
