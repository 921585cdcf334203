"""`client.throttles["mail-api"]`: a named limit of how many jobs run at once, in any queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, cast

from qless_core.duration import seconds_of

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_core.duration import Duration


class Throttle:
    """A throttle. It needs no creating: jobs may name it before it has a limit.

    Attributes:
        client: the client it belongs to.
        name: what jobs call it.

    """

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    def __repr__(self) -> str:
        return f"<Throttle {self.name!r}>"

    @property
    def maximum(self) -> int:
        """How many of its jobs may run at once, 0 for any number; assigning changes it in Redis.

        Jobs for which there is room then go to work; those that run are left to finish.
        """
        return self.client.commands.throttle_get(self.name).maximum

    @maximum.setter
    def maximum(self, maximum: int) -> None:
        self.client.commands.throttle_set(self.name, maximum)

    def set(self, maximum: int, *, expire: Duration | None = None) -> None:
        """Set the limit; with `expire` it ends by itself after so many seconds, whole ones.

        Raises:
            BadArgument: a number makes no sense.

        """
        self.client.commands.throttle_set(self.name, maximum, _whole(expire))

    def expire(self, seconds: Duration | None) -> None:
        """Let the limit end by itself after so many seconds; None: let it stay.

        Raises:
            BadArgument: the number makes no sense.

        """
        self.client.commands.throttle_set(
            self.name, self.maximum, -1 if seconds is None else _whole(seconds)
        )

    @property
    def ttl(self) -> int | None:
        """Seconds until the limit ends by itself; None where it does not, or there is none."""
        left = self.client.commands.throttle_ttl(self.name)
        return None if left < 0 else left

    @property
    def locks(self) -> list[str]:
        """The jids that run under it."""
        return self.client.commands.throttle_locks(self.name)

    @property
    def pending(self) -> list[str]:
        """The jids that it keeps back, the next in line first."""
        return self.client.commands.throttle_pending(self.name)

    def release(self, *jids: str) -> None:
        """Let jobs count no more, though they may go on to run; the next in line go to work."""
        if jids:
            self.client.commands.throttle_release(self.name, *jids)

    def delete(self) -> None:
        """Take the limit away; the jobs that it kept back go to work."""
        self.client.commands.throttle_delete(self.name)


class Throttles:
    """`client.throttles`: every throttle."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Throttles of {self._client!r}>"

    def __getitem__(self, name: str) -> Throttle:
        return Throttle(self._client, name)

    def __contains__(self, name: object) -> bool:
        """Whether there is a limit of this name now."""
        if not isinstance(name, str) or not name:
            return False
        return self._client.commands.throttle_get(name).maximum > 0

    def __iter__(self) -> NoReturn:
        """Refuse: nothing lists the throttles, as they need no creating.

        Raises:
            TypeError: always.

        """
        problem = (
            "there is no list of throttles: one is `client.throttles[name]`, "
            "and `job.throttles` names those of a job"
        )
        raise TypeError(problem)


def _whole(duration: Duration | None) -> int | None:
    """Give the seconds; whether they are whole is for the script to say."""
    return cast("int | None", seconds_of("the seconds until a limit ends", duration))
