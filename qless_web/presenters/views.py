"""Saved views: the page that lists them, and what is asked before one is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import isolated
from qless_web.presenters.ask import AskPage, Input, Subject, ask_page
from qless_web.presenters.page import Action, Ask, EmptyState, Link, Page

if TYPE_CHECKING:
    from qless_web.saved_views import SavedView


@dataclass(frozen=True, kw_only=True)
class ViewsPage(Page):
    """All of them.

    Attributes:
        rows: name, address, and what forgets it.
        most: how many there can be.
        empty: what to show where there are none.

    """

    template: ClassVar[str] = "views/index.html"

    rows: tuple[tuple[str, str, Action], ...]
    most: int
    empty: EmptyState | None


def views_page(found: tuple[SavedView, ...], most: int) -> ViewsPage:
    """Return the page."""
    return ViewsPage(
        title="Saved views",
        nav="views",
        rows=tuple((each.name, each.address, _forget(each.name)) for each in found),
        most=most,
        empty=None if found else _NONE,
    )


def _forget(name: str) -> Action:
    return Action(text="Forget", link=Link("act.forget_view", {"view": name}), icon="forget")


def subject() -> Subject:
    """Name the place of what is asked about views."""
    return Subject(nav="views", name="saved views", link=Link("views.index"))


def save_view(address: str, name: str = "") -> AskPage:
    """Ask what to call the view at an address."""
    question = Ask(
        verb="Save",
        count=1,
        noun="view",
        question="Save this view under which name?",
        link=Link("act.save_view"),
        consequences=("Everybody who uses this console sees it. One with that name is replaced.",),
        fields=(("address", address), ("expected", "1")),
    )
    name_of_it = Input(kind="text", label="Name", name="name", value=name, hint=address)
    return ask_page(question, subject(), inputs=(name_of_it,))


def forget_view(name: str) -> AskPage:
    """Ask whether to forget a view."""
    question = Ask(
        verb="Forget",
        count=1,
        noun="view",
        question=f"Forget the saved view {isolated(name)}?",
        link=Link("act.forget_view", {"view": name}),
        consequences=("What it shows stays as it is; only the name is gone, for everybody.",),
        fields=(("expected", "1"),),
    )
    return ask_page(question, subject())


_NONE = EmptyState(
    kind="nothing-yet",
    title="No view is saved yet",
    text="Filter, sort and page a list until it shows what you come back for, then save its "
    "address under a name: “Save this view”, below the places.",
)
