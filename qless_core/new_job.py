"""A job that is to be put: what it is made of, checked and spelled as the script takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.commands import put_options
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument
from qless_core.job import Job, jids_of, new_jid
from qless_core.job_class import default_options, klass_name_of
from qless_core.moment import moment_of
from qless_core.options import as_number
from qless_core.several import texts_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from qless_core.duration import Duration


@dataclass(frozen=True, slots=True)
class ReadyJob:
    """A job as the script takes it.

    Attributes:
        jid: what it is called.
        klass: the name of its class.
        data: its data, as JSON.
        delay: seconds before it may run.
        options: the options that are given, as `Commands.put` names them.

    """

    jid: str
    klass: str
    data: str
    delay: float
    options: Mapping[str, Any]

    def row(self) -> list[str | float]:
        """Spell it for `Commands.bulk_put`."""
        return [self.jid, self.klass, self.data, self.delay, *put_options(**self.options)]


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to put, with the arguments of `Queue.put`.

    Attributes:
        klass: the class (or function) that will run it, as an object or as its dotted name.
        data: what it is to work on: anything that JSON can say.
        priority: the higher, the sooner it is popped; 0 when not given.
        tags: texts to find it by.
        delay: seconds before it may run, or a timedelta; 0 when not given.
        retries: how often it may be taken back from a worker before it fails; 5 when not given.
        jid: what to call it; a job that has this jid is replaced. Made up when not given.
        depends: jobs that must be complete first.
        throttles: names of limits that it runs under.
        heartbeat: seconds that it is locked for at a time; as its queue says when 0 or not given.
        at: the moment before which it may not run, in the place of `delay`: epoch seconds, or a
            datetime that knows its time zone.
        strict: refuse it where a job that it depends on does not exist; that is left out else.

    """

    klass: object
    data: Any = None
    priority: float | None = field(default=None, kw_only=True)
    tags: Iterable[str] | None = field(default=None, kw_only=True)
    delay: Duration | None = field(default=None, kw_only=True)
    retries: int | None = field(default=None, kw_only=True)
    jid: str | None = field(default=None, kw_only=True)
    depends: Iterable[str | Job] | None = field(default=None, kw_only=True)
    throttles: Iterable[str] | None = field(default=None, kw_only=True)
    heartbeat: Duration | None = field(default=None, kw_only=True)
    at: float | dt.datetime | None = field(default=None, kw_only=True)
    strict: bool | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        given = ((name, getattr(self, name)) for name in OPTIONS)
        options = "".join(f", {name}={value!r}" for name, value in given if value is not None)
        return f"NewJob({self.klass!r}, {self.data!r}{options})"

    @classmethod
    def of(cls, job: NewJob | Mapping[str, Any] | tuple[Any, ...]) -> NewJob:
        """Make one of a mapping of its arguments, or of a tuple of class, data and such a mapping.

        Raises:
            BadArgument: it is none of these, or has an argument that there is not.

        """
        if isinstance(job, NewJob):
            return job
        if isinstance(job, str):
            problem = f"{job!r} is no job to put, but a text: a job is a class and its data"
            raise BadArgument(problem)
        try:
            if isinstance(job, Mapping):
                return cls(**job)
            klass, data, *options = job
            return cls(klass, data, **dict(*options))
        except (TypeError, ValueError) as error:
            problem = f"{job!r} is no job to put: {error}"
            raise BadArgument(problem) from error

    def ready(self) -> ReadyJob:
        """Check it, and spell it as the script takes it; the class gives what is not given.

        Raises:
            BadArgument: an argument makes no sense, or the data cannot be said in JSON.

        """
        given = {name: getattr(self, name) for name in OPTIONS}
        options = with_defaults(self.klass, self.data, given, known=OPTIONS)
        if self.delay is not None or self.at is not None:
            options |= {"delay": self.delay, "at": self.at}  # one of the class is no second one
        jid, delay = options.pop("jid"), seconds_of("delay", options.pop("delay"))
        depends = options.pop("depends")
        return ReadyJob(
            jid=jid_given(jid),
            klass=klass_name_of(self.klass),
            data=wire.dumps(self.data),
            delay=0 if delay is None else delay,
            options={
                **options,
                "tags": texts_of("tags", options["tags"]),
                "depends": None if depends is None else jids_of(depends),
                "priority": _number("priority", options["priority"]),
                "retries": _whole("retries", options["retries"]),
                "throttles": texts_of("throttles", options["throttles"]),
                "heartbeat": _seconds("heartbeat", options["heartbeat"]),
                "at": moment_of(options["at"], delay),
                "strict": bool(options["strict"]),
            },
        )


#: The options of a job that is put.
OPTIONS: Final = tuple(each.name for each in fields(NewJob) if each.kw_only)


def with_defaults(
    klass: object,
    data: Any,  # noqa: ANN401 - job data is any JSON
    given: Mapping[str, Any],
    *,
    known: Iterable[str],
) -> dict[str, Any]:
    """Give options, and where one is None, what the class says of it.

    Args:
        klass: the class (or function) of the job, as an object or as its dotted name.
        data: its data.
        given: the options by name.
        known: those that a class may speak of.

    Raises:
        BadArgument: what the class says makes no sense.

    """
    defaults = default_options(klass, data, known)
    return {name: defaults.get(name) if value is None else value for name, value in given.items()}


def jid_given(jid: Any) -> str:  # noqa: ANN401 - whatever was given
    """Give the jid of a job that is to be put: the one that is given, or a new one where none is.

    Raises:
        BadArgument: it is no text, empty, or has what UTF-8 cannot hold.

    """
    if jid is None:
        return new_jid()
    if isinstance(jid, str) and jid and wire.clean(jid) == jid:
        return jid
    problem = f"jid must be a text of UTF-8 that is not empty, got {jid!r:.80}"
    raise BadArgument(problem)


def _number(what: str, value: Any) -> Any:  # noqa: ANN401 - whatever was given, when it is one
    if value is None or (not isinstance(value, bool) and as_number(value) is not None):
        return value
    problem = f"{what} must be a number, got {value!r}"
    raise BadArgument(problem)


def _whole(what: str, value: Any) -> Any:  # noqa: ANN401 - as above
    number = _number(what, value)
    if number is None or isinstance(as_number(number), int):
        return number
    problem = f"{what} must be a whole number, got {value!r}"
    raise BadArgument(problem)


def _seconds(what: str, value: Duration | None) -> float | None:
    seconds = seconds_of(what, value)
    if seconds is None or seconds >= 0:
        return seconds
    problem = f"{what} must be a number of seconds from 0 up, got {value!r}"
    raise BadArgument(problem)
