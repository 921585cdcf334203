"""What can go wrong, one class each.

The script refuses with `CODE Command(): sentence`; `script.py` finds the class by its `code` and
hands the sentence to `from_refusal`, which reads the fields back out of it.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, Self


class QlessError(Exception):
    """Raised when the queue cannot do what was asked; every error of this package is one."""

    #: The word the script's refusal begins with; "" where only Python raises the class.
    code: ClassVar[str] = ""

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        return cls(sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        # The usual way calls cls(*args), which fits no class whose message is built from fields.
        return (Exception.__new__, (type(self), *self.args), self.__dict__)


class RedisUnavailable(QlessError):  # noqa: N818 - the names are the sentence, as in the reference
    """Raised when Redis cannot be reached, went away, or cannot do now what was asked."""

    #: Whether waiting helps.
    passes: ClassVar[bool] = True
    #: What to do about it; the message ends with it.
    advice: ClassVar[str] = "see that a server answers at this address, or wait for it"

    @classmethod
    def of(cls, said: str) -> Self:
        """Build the error from what the server said."""
        return cls(f"{said.rstrip('.')}: {cls.advice}")


class RedisLoading(RedisUnavailable):
    """Raised when the server has started and still reads its data; it will answer by itself."""

    advice = "it reads its data after a start; wait"


class RedisBusy(RedisUnavailable):
    """Raised when a script of somebody keeps the server from answering anybody."""

    advice = "a script runs too long; wait, or SCRIPT KILL one that has written nothing"


class RedisFull(RedisUnavailable):
    """Raised when the server has reached its `maxmemory`.

    Reads go on, and what only takes away from a list (`unpause`, `unrecur`, forgetting); not so
    what puts anything anywhere, and cancelling neither.
    """

    advice = "raise its maxmemory; once there is room, let completed jobs expire sooner"


class RedisReadOnly(RedisUnavailable):
    """Raised when the server is a replica: the primary is another by now, or was never this one."""

    advice = "the next call connects anew; if it stays, this is the address of a replica"


class PrimaryMoved(RedisUnavailable):
    """Raised when nobody, or another server, is the primary: a failover or a move is under way."""

    advice = "wait until the others have agreed on a primary"


class WritesRefused(RedisUnavailable):
    """Raised when the server would not be able to keep what is written: no disk, no replicas."""

    advice = "see to its disk or its replicas; it takes writes again by itself"


class NotPermitted(RedisUnavailable):
    """Raised when the server does not let this user do it, or does not know the user."""

    passes = False
    advice = "give this Redis user the right; waiting does not help"

    #: What is missing where the server does not know the user.
    NOBODY: ClassVar = "a user name and a password that the server takes"

    def __init__(self, said: str, missing: str = "") -> None:
        #: What the user lacks: a command, a key or a channel, or a password; "" when not known.
        self.missing = missing
        lacks = f": this Redis user lacks {missing}" if missing else ""
        super().__init__(f"{said.rstrip('.')}{lacks}")


class OutcomeUnknown(RedisUnavailable):
    """Raised when a command was sent and the connection lost: it may have run, or not.

    Nothing is sent again by itself, as it might run twice. A client with `patience` does, under an
    id by which Redis knows a request that it has carried out.
    """

    advice = "look whether it did, or give the client patience, and it asks until it knows"


class BadArgument(QlessError):  # noqa: N818 - as above
    """Raised when an argument is missing, of the wrong kind or senseless; nothing was written."""

    code = "BAD_ARGUMENT"


class AcrossShards(BadArgument):
    """Raised when one job is to depend on another, or to be one with it, that is on another shard.

    Attributes:
        shard: the one that the job is on.
        jid: the other job.
        other: the shard that the other one is on.

    """

    code = ""  # no script knows of it

    def __init__(self, what: str, shard: str, jid: str, other: str) -> None:
        self.shard, self.jid, self.other = shard, jid, other
        super().__init__(
            f"{what} is on the shard {shard!r}, the job {jid!r} on {other!r}: "
            "what belongs together has to be on one shard; pin their queues to one"
        )


class ClusterNeedsTag(BadArgument, RedisUnavailable):
    """Raised when the Redis is a cluster and the namespace holds no hash tag, as `{ql}:` does."""

    code = ""
    passes = False
    advice = "choose a namespace with a hash tag, as {ql}:"

    def __init__(self, namespace: str) -> None:
        #: The namespace that will not do.
        self.namespace = namespace
        super().__init__(
            f"this Redis is a cluster, and the namespace {namespace!r} has no hash tag that keeps "
            "its keys on one node: choose one like '{ql}:'"
        )


class UnknownCommand(QlessError):  # noqa: N818 - as above
    """Raised when the script has no command of that name."""

    code = "UNKNOWN_COMMAND"


class ScriptFault(QlessError):  # noqa: N818 - as above
    """Raised when the Lua itself breaks: a fault of this package, with the place in its sources."""

    def __init__(self, where: str, message: str = "") -> None:
        #: File and line, as `pop.lua:41`; "" when the text of Redis names none.
        self.where = where
        super().__init__(f"{where}: {message}" if message else where)


class ForeignData(QlessError):  # noqa: N818 - as above
    """Raised when a key holds another kind of data than belongs there: no qless wrote it."""

    def __init__(self, key: str = "", holds: str = "", belongs: str = "") -> None:
        #: The key; "" where it was not found out.
        self.key = key
        super().__init__(
            f"The key {key} holds {holds} where {belongs} belongs: no qless wrote it"
            if key
            else "A key holds data of another kind than belongs there: no qless wrote it"
        )


class JobError(QlessError):
    """Raised when a job is not in the state that the call needs."""

    #: How the sentence names the job.
    _jid: ClassVar[re.Pattern[str]] = re.compile(
        r"Job (.+?)(?: does not exist| is | has | given | running | not |$)", re.DOTALL
    )

    def __init__(self, jid: str, sentence: str = "") -> None:
        self.jid = jid
        super().__init__(sentence or f"Job {jid} is not in a state for this")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        return cls(cls._jid_in(sentence), sentence=sentence)

    @classmethod
    def _jid_in(cls, sentence: str) -> str:
        found = cls._jid.search(sentence)
        return found[1] if found else ""


class JobNotFound(JobError):  # noqa: N818 - as above
    """Raised when no job has this jid."""

    code = "JOB_NOT_FOUND"
    _jid = re.compile(r"Job (.+) does not exist", re.DOTALL)

    def __init__(self, jid: str, sentence: str = "") -> None:
        super().__init__(jid, sentence or f"Job {jid} does not exist")


class JobNotRunning(JobError):  # noqa: N818 - as above
    """Raised when only a running job can do this, and the job is in another state."""

    code = "JOB_NOT_RUNNING"
    _jid = re.compile(r"Job (.+?) (?:is )?not currently running", re.DOTALL)
    _state: ClassVar[re.Pattern[str]] = re.compile(r"running: *(\S*)\s*$")

    def __init__(self, jid: str, state: str, sentence: str = "") -> None:
        #: The state the job is in.
        self.state = state
        super().__init__(jid, sentence or f"Job {jid} is not currently running: {state}")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._state.search(sentence)
        return cls(cls._jid_in(sentence), found[1] if found else "", sentence=sentence)


class LockLost(JobError):  # noqa: N818 - as above
    """Raised when the lock on the job is no longer ours: another worker (or queue) has it."""

    code = "LOCK_LOST"
    _worker: ClassVar[re.Pattern[str]] = re.compile(r"another worker:? *(.*)$", re.DOTALL)

    def __init__(self, jid: str, worker: str = "", sentence: str = "") -> None:
        #: Who has it now; "" when the sentence does not say.
        self.worker = worker
        super().__init__(jid, sentence or f"Job {jid} is given out to another worker: {worker}")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._worker.search(sentence)
        return cls(cls._jid_in(sentence), found[1] if found else "", sentence=sentence)


class HasDependents(JobError):  # noqa: N818 - as above
    """Raised when a job cannot go because others wait for it and would wait for ever."""

    code = "HAS_DEPENDENTS"
    _pair: ClassVar[re.Pattern[str]] = re.compile(
        r"(?:\w+\(\): )?(?:Job )?(.+) is a dependency of (.+)$", re.DOTALL
    )

    def __init__(self, jid: str, dependents: tuple[str, ...] = (), sentence: str = "") -> None:
        #: The jids that wait for it, as far as the script names them.
        self.dependents = dependents
        super().__init__(jid, sentence or f"{jid} is a dependency of {', '.join(dependents)}")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._pair.search(sentence)
        if not found:
            return cls("", sentence=sentence)
        return cls(found[1], (found[2],), sentence=sentence)


class NotWaitingOnDependencies(JobError):  # noqa: N818 - as above
    """Raised when dependencies of a job are changed in a state that has none."""

    code = "NOT_DEPENDS"
    _jid = re.compile(r"Job (.+?) (?:is )?not in the depends state", re.DOTALL)
    _state: ClassVar[re.Pattern[str]] = re.compile(r"depends state: *(\S*)\s*$")

    def __init__(self, jid: str, state: str, sentence: str = "") -> None:
        #: The state the job is in.
        self.state = state
        super().__init__(jid, sentence or f"Job {jid} is not in the depends state: {state}")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._state.search(sentence)
        return cls(cls._jid_in(sentence), found[1] if found else "", sentence=sentence)


class MissingDependencies(JobError):  # noqa: N818 - as above
    """Raised when a job is to wait for jobs that do not exist, and `strict` was asked for."""

    code = "NO_DEPENDENCY"
    _jid = re.compile(r"Job (.+?) cannot depend on", re.DOTALL)
    _list: ClassVar[re.Pattern[str]] = re.compile(r"exist: *(\[.*\])\s*$", re.DOTALL)

    def __init__(self, jid: str, missing: tuple[str, ...], sentence: str = "") -> None:
        #: The jids that no job has; empty when the sentence was too long to name them.
        self.missing = missing
        named = ", ".join(missing)
        super().__init__(
            jid, sentence or f"Job {jid} cannot depend on jobs that do not exist: {named}"
        )

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._list.search(sentence)
        try:
            missing = tuple(map(str, json.loads(found[1]))) if found else ()
        except ValueError:
            missing = ()
        return cls(cls._jid_in(sentence), missing, sentence=sentence)


class MalformedData(JobError):  # noqa: N818 - as above
    """Raised when the text that Redis holds as the data of a job is not JSON."""

    def __init__(self, jid: str, sentence: str = "") -> None:
        super().__init__(jid, sentence or f"The data of job {jid} is not JSON")


class WorkerNotFound(QlessError):  # noqa: N818 - as above
    """Raised when no worker of this name tells of itself, so that none hears a request."""

    code = "WORKER_NOT_FOUND"
    _name: ClassVar[re.Pattern[str]] = re.compile(r"Worker (.+) is not known", re.DOTALL)

    def __init__(self, worker: str, sentence: str = "") -> None:
        self.worker = worker
        super().__init__(sentence or f"Worker {worker} is not known, or takes no requests")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._name.search(sentence)
        return cls(found[1] if found else "", sentence=sentence)


class ArchiveMoved(QlessError):  # noqa: N818 - as above
    """Raised when another archiver of the same name has written meanwhile."""

    code = "ARCHIVE_MOVED"
    _name: ClassVar[re.Pattern[str]] = re.compile(r"archive (.+) stands at", re.DOTALL)

    def __init__(self, name: str, sentence: str = "") -> None:
        #: What the archiver is called.
        self.name = name
        super().__init__(sentence or f"The archive {name} was written by somebody else meanwhile")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._name.search(sentence)
        return cls(found[1] if found else "", sentence=sentence)


class RecurringJobNotFound(QlessError):  # noqa: N818 - as above
    """Raised when no recurring job has this jid."""

    code = "RECURRING_NOT_FOUND"
    _jid: ClassVar[re.Pattern[str]] = re.compile(r"[Jj]ob (.+) does not exist", re.DOTALL)

    def __init__(self, jid: str, sentence: str = "") -> None:
        self.jid = jid
        super().__init__(sentence or f"Recurring job {jid} does not exist")

    @classmethod
    def from_refusal(cls, sentence: str) -> Self:
        """Build the error from the script's sentence (without its code)."""
        found = cls._jid.search(sentence)
        return cls(found[1] if found else "", sentence=sentence)
