"""From the name of a class to what runs its jobs, and the options that a class gives its jobs.

A job class is a class (or a function, or a module) that can be imported by its dotted name. What
runs is its method named after the job's queue, else `process`, else `perform`, with the job as
its only argument; a class whose method is no static or class method is made first, without
arguments. A function is called with the job.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NoReturn

from qless_core import wire
from qless_core.errors import BadArgument, QlessError
from qless_core.main_module import name_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.job import Job

#: Methods that run the jobs of any queue, in the order of preference.
COMMON_METHODS: Final = ("process", "perform")

#: The most names of which it is remembered where they were found: anybody may put any name.
MOST_PLACES: Final = 4096

#: The attribute of a class that has the default options of its jobs.
OPTIONS_ATTRIBUTE: Final = "qless_options"


class CannotPerform(QlessError):  # noqa: N818 - the names are the sentence, as in errors.py
    """Raised when the class of a job cannot be imported, or has nothing that runs jobs."""


def performer_of(klass_name: str, queue_name: str) -> Callable[[Job], Any]:
    """Find what runs the jobs of a class in a queue.

    Raises:
        CannotPerform: the class cannot be imported, or has nothing that runs jobs.

    """
    return performer_in(find(klass_name), klass_name, queue_name)


def performer_in(found: Any, klass_name: str, queue_name: str) -> Callable[[Job], Any]:  # noqa: ANN401 - as find() gives it
    """Find what runs the jobs of a class in a queue, where the class itself was found.

    Raises:
        CannotPerform: it has nothing that runs jobs.

    """
    try:
        way = _way(found, queue_name)
    except TypeError:  # something that cannot be a key, and is looked at each time
        way = _way.__wrapped__(found, queue_name)
    if way is not None:
        name, is_made = way
        performer: Callable[[Job], Any] = (
            getattr(found() if is_made else found, name) if name else found
        )
        return performer
    problem = (
        f"{klass_name} has no method to run jobs of the queue {queue_name!r}: "
        f"it needs {method_name_of(queue_name) or 'one of'}, process or perform"
    )
    raise CannotPerform(problem)


@functools.lru_cache(maxsize=4096)
def _way(found: Any, queue_name: str) -> tuple[str, bool] | None:  # noqa: ANN401 - as find() gives it
    """Find the method that runs the jobs of a queue, and whether an object is made for it.

    "" where it is called itself; None where there is nothing that runs jobs.
    """
    for name in (method_name_of(queue_name), *COMMON_METHODS):
        if _has_method(found, name):
            return name, _is_plain(found, name)
    return ("", False) if callable(found) and not inspect.isclass(found) else None


#: Where what a name means was found: the module, and the names inside.
_places: dict[str, tuple[str, list[str]]] = {}


def find(klass_name: str) -> Any:  # noqa: ANN401 - a class, a function or a module
    """Import what a dotted name means: a module, or something inside one.

    Raises:
        CannotPerform: there is nothing of that name, or its module cannot be imported.

    """
    # To import what is there takes longer than many a job.
    module_name, inside = _places.get(klass_name, ("", []))
    if found := sys.modules.get(module_name):
        return _inside(found, inside, klass_name)
    try:
        parts = parts_of(klass_name)
    except BadArgument as error:
        raise CannotPerform(str(error)) from None
    return _imported(parts, klass_name)


def _imported(parts: list[str], klass_name: str) -> Any:  # noqa: ANN401 - as find()
    """Import the longest module that the parts of a name begin with, and find the rest in it.

    Raises:
        CannotPerform: there is nothing of that name, or its module cannot be imported.

    """
    for length in range(len(parts), 0, -1):
        module_name = ".".join(parts[:length])
        if length > 1 and _has_no_modules(".".join(parts[: length - 1])):
            continue
        try:
            found = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name and f"{module_name}.".startswith(f"{error.name}."):
                continue
            raise _not_importable(klass_name, error) from error
        except Exception as error:
            raise _not_importable(klass_name, error) from error
        found = _inside(found, parts[length:], klass_name)
        if len(_places) < MOST_PLACES:
            _places[klass_name] = (module_name, parts[length:])
        return found
    problem = f"{klass_name} cannot be imported: there is no module {parts[0]!r}"
    raise CannotPerform(problem)


def parts_of(klass_name: str) -> list[str]:
    """Split the name of a class at its dots, or at the `::` of other languages.

    Raises:
        BadArgument: it can be no name in any language, as a part of it is empty.

    """
    parts = klass_name.removeprefix("::").replace("::", ".").split(".")
    if not all(part.strip() for part in parts):
        why = "a part of it is empty" if klass_name else "it is empty"
        _refuse(f"{klass_name!r} is no name of a class, as app.jobs.Mail is: {why}")
    return parts


def _has_no_modules(module_name: str) -> bool:
    """Whether a module is imported and no package, so that there is nothing to import in it."""
    found = sys.modules.get(module_name)
    return found is not None and not hasattr(found, "__path__")


def method_name_of(queue_name: str) -> str:
    """Turn the name of a queue into that of a method: `send-mail` is run by `send_mail`.

    "" for a name of which nothing is left that could name a method.
    """
    name = re.sub(r"\W+", "_", queue_name).strip("_")
    return name if name.isidentifier() else ""


def klass_name_of(klass: object, *, here: bool = False) -> str:
    """Name a class or function as workers will import it, `module.Qualname`; text passes.

    Args:
        klass: the class or function, or its name.
        here: whether this very process runs it, so that no other needs to import it.

    Raises:
        BadArgument: no worker could import it.

    """
    if isinstance(klass, str):
        return _checked(klass)
    module, name = getattr(klass, "__module__", None), getattr(klass, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        _refuse(f"{klass!r} is neither a class, a function nor the name of one")
    if "<" in name:
        _refuse(f"{module}.{name} is made inside a function, where no worker can import it")
    elsewhere = name_elsewhere(module)
    if elsewhere is None and not here:
        _refuse(
            f"{module}.{name} is part of the program that runs, which no worker can import: "
            "move it into a module, or give its name as text, as 'app.jobs.Mail'"
        )
    return f"{elsewhere or module}.{name}"


def _checked(name: str) -> str:
    parts_of(name)
    if wire.clean(name) != name:
        _refuse(f"the name of a class must be text of UTF-8, got {name!r}")
    return name


def default_options(klass: object, data: Any, known: Iterable[str]) -> Mapping[str, Any]:  # noqa: ANN401 - any JSON
    """Ask a class for the options that its jobs have where they are not given.

    They are its attribute `qless_options`: a mapping, or a function of the data that answers one.
    A class that is given by its name is not imported, and has none.

    Args:
        klass: the class or function, or its name.
        data: the data of the job.
        known: the options that there are.

    Raises:
        BadArgument: they are no mapping, or name an option that there is not.

    """
    declared = None if isinstance(klass, str) else getattr(klass, OPTIONS_ATTRIBUTE, None)
    if declared is None:
        return {}
    whose = f"{klass_name_of(klass)}.{OPTIONS_ATTRIBUTE}"
    try:
        found = declared(data) if callable(declared) else declared
    except Exception as error:
        error.add_note(f"raised by {whose}, which gives the default options of the job")
        raise
    if not isinstance(found, Mapping):
        _refuse(f"{whose} must be, or answer, a dict of options, got {found!r}")
    names = [*known]
    for name in found:
        if name not in names:
            near = get_close_matches(str(name), names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f": there are {', '.join(names)}"
            _refuse(f"{whose} has {name!r}, which is no option of a job{hint}")
    return found


def _has_method(found: Any, name: str) -> bool:  # noqa: ANN401 - as find() gives it
    """Whether somebody wrote a method of this name; what every class has does not count."""
    if not name or inspect.isroutine(found):
        return False
    if inspect.isclass(found) and not any(name in vars(base) for base in found.__mro__[:-1]):
        return False
    return callable(getattr(found, name, None))


def _is_plain(found: Any, name: str) -> bool:  # noqa: ANN401 - as find() gives it
    """Whether a method is neither static nor of the class, so that it needs an object."""
    return inspect.isclass(found) and inspect.isfunction(inspect.getattr_static(found, name))


def _inside(found: Any, names: list[str], klass_name: str) -> Any:  # noqa: ANN401 - as find()
    for name in names:
        try:
            found = getattr(found, name)
        except AttributeError as error:
            problem = f"{klass_name} cannot be imported: {error}"
            raise CannotPerform(problem) from None
    return found


def _not_importable(klass_name: str, error: Exception) -> CannotPerform:
    return CannotPerform(f"{klass_name} cannot be imported: {type(error).__name__}: {error}")


def _refuse(problem: str) -> NoReturn:
    raise BadArgument(problem)
