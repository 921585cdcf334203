"""Any page of the console: what an operator reads there and presses."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page


class ConsolePage:
    """A browser before the console. `address` is where its first page is."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, path: str = "/") -> None:
        """Go to an address of the console."""
        self.page.goto(self.address + path)

    def follow(self, text: str) -> None:
        """Press a link in the content of the page."""
        self.main.get_by_role("link", name=text).first.click()

    def go_to(self, place: str) -> None:
        """Press an entry of the rail."""
        self.entry(place).click()

    @property
    def main(self) -> Locator:
        """The content of the page."""
        return self.page.get_by_role("main")

    def row(self, text: str) -> Locator:
        """Find the line of a table that shows a text."""
        return self.main.get_by_role("row").filter(has_text=text)

    def press(self, name: str, *, within: Locator | None = None) -> None:
        """Press a button, or a link that looks like one."""
        place = within or self.main
        button = place.get_by_role("button", name=name, exact=True)
        button.or_(place.get_by_role("link", name=name, exact=True)).first.click()

    @property
    def ticked(self) -> Locator:
        """What can be done with the ticked rows."""
        return self.main.get_by_role("form", name="Ticked jobs")

    def answer(self, button: str, *, typed: str = "") -> None:
        """Answer the question that was asked."""
        question = self.question
        expect(question).to_be_visible()
        if typed:
            question.get_by_label(re.compile("^Type")).fill(typed)
        question.get_by_role("button", name=button, exact=True).click()

    @property
    def question(self) -> Locator:
        """The question before something is done, in the panel or on a page of its own."""
        return self.page.get_by_role("region").filter(
            has=self.page.get_by_role("link", name="Keep as it is")
        )

    def tree_line(self, key: str) -> Locator:
        """Find the line of folded data that has a key."""
        lines = self.main.locator(".tree-leaf, .tree summary")
        return lines.filter(has=self.page.get_by_text(key, exact=True)).first

    @property
    def state(self) -> Locator:
        """The state of the job that the page is about."""
        return self.page.locator("#job-state")

    @contextmanager
    def one_document(self) -> Iterator[None]:
        """Check that what happens within the block does not load the page again."""
        self.page.evaluate("window.sameDocument = true")
        yield
        assert self.page.evaluate("window.sameDocument") is True, "the page was loaded again"

    def expect_told(self, text: str | re.Pattern[str]) -> None:
        """Wait until the console says what was done."""
        expect(self.page.get_by_role("log", name="Messages")).to_contain_text(text)

    def expect_live(self, state: str = "live", *, within_ms: float | None = None) -> None:
        """Wait until the page hears of changes by itself, or says in what other state it is."""
        expect(self.live_state).to_have_attribute("data-state", state, timeout=within_ms)

    @property
    def live_state(self) -> Locator:
        """The word in the top bar that says whether the page hears of changes."""
        return self.page.locator("#live-status")

    def entry(self, place: str) -> Locator:
        """Find an entry of the rail, with its count."""
        rail = self.page.get_by_role("navigation", name="Console", exact=True)
        return rail.get_by_role("link", name=re.compile(rf"^{place}\b"))

    def region(self, name: str) -> Locator:
        """Find a part of the page that is kept fresh."""
        return self.page.locator(f"#{name}")

    @property
    def rows(self) -> Locator:
        """The lines of the list of jobs."""
        return self.main.locator(".row")

    @property
    def gone(self) -> Locator:
        """The lines of jobs that left the list."""
        return self.main.locator(".row[data-gone]")

    @property
    def new_rows(self) -> Locator:
        """The button that lets new lines in."""
        return self.main.locator("[data-live-new] button")

    def jids(self) -> list[str]:
        """List the jids of the lines, in order."""
        rows = self.rows.evaluate_all("(rows) => rows.map((row) => row.id)")
        return [row.removeprefix("job-") for row in rows]

    def row_of(self, jid: str) -> Locator:
        """Find the line of a job."""
        return self.page.locator(f"#job-{jid}")

    def tick(self, jid: str) -> Locator:
        """Find the box that chooses a line."""
        return self.row_of(jid).get_by_role("checkbox")

    def menu(self, jid: str) -> Locator:
        """Find what can be done with the job of a line, folded away or open."""
        return self.row_of(jid).locator("details")
