"""Addresses of the console get a name, and lose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

from qless_core.errors import BadArgument
from qless_web import saved_views
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import Field
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.presenters import views

if TYPE_CHECKING:
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage, Subject
    from qless_web.saved_views import SavedView

#: What programs are told of an address: printable, of no other host, and nowhere above.
_ADDRESS = r"^/(?!/|(?:[^?]*/)?\.\.(?:[/?]|$))[!\"$-\[\]-~]*$"


def _subject(**_path: str) -> Subject:
    return views.subject()


def _ask_save(form: Form) -> AskPage:
    return views.save_view(form.get("address") or "/", form.get("name"))


@action(
    "save_view",
    "/views/save",
    permission="operate",
    subject=_subject,
    ask=_ask_save,
    takes=(
        Field(
            name="name",
            help="What to call it.",
            longest=saved_views.LONGEST_NAME,
            example="Failed mail",
        ),
        Field(
            name="address",
            help="A path of this console.",
            pattern=_ADDRESS,
            longest=saved_views.LONGEST_ADDRESS,
            example="/failed?page=2",
        ),
    ),
)
def save_view(form: Form) -> Outcome:
    """Keep an address of the console under a name, for everybody."""
    try:
        view = _keep(form)
    except BadArgument as error:
        if not form.guarded:
            raise
        # Where nothing came along, the button was meant to ask.
        raise AskAgain(str(error) if form.has("name") else "") from error
    return Outcome(text=f"Saved the view {view.name}.", done=(view.name,), on={"view": view.name})


def _keep(form: Form) -> SavedView:
    """Keep what the form says.

    Raises:
        BadArgument: it makes no sense, or there are too many views.

    """
    address = _inside(form.get("address"), request.script_root)
    view = saved_views.checked(form.get("name"), address)
    if not current().read(saved_views.keep(view)):
        problem = f"There are {saved_views.MOST} saved views, which is the most: forget one first."
        raise BadArgument(problem)
    return view


def _inside(address: str, prefix: str) -> str:
    """Leave out where the console is mounted: it may be mounted elsewhere tomorrow."""
    return address.removeprefix(prefix) if address.startswith(f"{prefix}/") else address


def _ask_forget(_form: Form, view: str) -> AskPage:
    return views.forget_view(view)


@action(
    "forget_view",
    "/views/<name:view>/forget",
    permission="operate",
    subject=_subject,
    ask=_ask_forget,
)
def forget_view(_form: Form, view: str) -> Outcome:
    """Forget a saved view; what it shows stays."""
    if not current().read(saved_views.forget(view)):
        text = f"There is no saved view called {view}."
        return Outcome(text=text, tone="warning", status=404)
    return Outcome(text=f"Forgot the view {view}.", done=(view,))
