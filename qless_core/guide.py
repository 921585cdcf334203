"""Who says where connections lead: by itself to one place, else to whoever is the primary now."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from redis import exceptions

from qless_core.masking import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redis.connection import AbstractConnection

    from qless_core.address import Place

#: Seconds for one of several that may be asked; the others are asked when it is silent.
ASK_WITHIN_S = 2.0


def hello(connection: AbstractConnection) -> dict[str, Any]:
    """Ask a server who it is: its `mode`, its `role`. Every user may, also without any rights.

    Raises:
        redis.exceptions.AuthenticationError: it asks for a password first.

    """
    connection.send_command("HELLO", check_health=False)  # type: ignore[no-untyped-call]  # redis-py's
    try:
        told = connection.read_response()
    except exceptions.AuthenticationError as error:
        problem = "it asks for a password"
        raise exceptions.AuthenticationError(problem) from error
    except exceptions.ResponseError:
        return {}  # a proxy, which leads where it likes
    return dict(zip(told[::2], told[1::2], strict=True)) if isinstance(told, list) else {}


class Guide:
    """Leads each connection of a pool to where its settings say: to one and the same place.

    Attributes:
        tag: the hash tag of the namespace; None where it has none.
        generation: counts how often the way was found to have changed. A connection that is from
            another one is made anew before it is used again.
        to_primary: whether whoever is there must be a primary.

    """

    def __init__(self, tag: str | None = None) -> None:
        self.tag = tag
        self.generation = 0
        self.to_primary = False

    def primary(self) -> Place | None:
        """Find where to connect to; None for where the settings say.

        Raises:
            redis.exceptions.RedisError: nobody could be asked, or nobody knows.

        """
        return None

    def astray(self) -> None:
        """Note that a connection led to the wrong server, so that all are made anew."""
        self.generation += 1

    def silent(self, place: Place) -> None:
        """Note that a server gave no answer in time; nobody else could be asked instead of it."""


class AskingGuide(Guide, ABC):
    """Asks one of several that know where the primary is.

    Args:
        places: whom to ask.
        connect: makes a connection to one of them, which is closed again.
        tag: as for any guide.

    """

    #: Who is asked, in messages.
    asked = "server"

    def __init__(
        self,
        places: Iterable[Place],
        connect: Callable[[Place], AbstractConnection],
        tag: str | None = None,
    ) -> None:
        super().__init__(tag)
        #: Whom to ask, who answered last time first. Replaced, never changed: threads share it.
        self.places = tuple(places)
        self.to_primary = True
        self._connect = connect
        self._last: Place | None = None

    def primary(self) -> Place:
        """Find where the primary is: from the first that answers."""
        trouble: exceptions.RedisError | None = None
        for place in self.places:
            try:
                found = self._ask(place)
            except exceptions.RedisError as error:
                trouble = error
                continue
            self.places = (place, *(each for each in self.places if each != place))
            if self._last not in (None, found):
                self.generation += 1
            self._last = found
            return found
        raise self._nobody(trouble)

    def astray(self) -> None:
        """Note that the one who was asked is behind the times: others are asked before it."""
        super().astray()
        self.places = (*self.places[1:], *self.places[:1])

    def silent(self, place: Place) -> None:
        """Note that a server gave no answer in time, so that all connections are made anew.

        Others that rest lead there, too, and each would be waited for as long. It is asked last.
        """
        self.generation += 1
        if place in self.places:
            self.places = (*(each for each in self.places if each != place), place)

    def _ask(self, place: Place) -> Place:
        """Ask at a place where the primary is."""
        connection = self._connect(place)
        try:
            connection.connect()  # type: ignore[no-untyped-call]  # redis-py's
            return self.answer(connection, place)
        except OSError as error:
            raise exceptions.ConnectionError(str(error)) from error
        finally:
            connection.disconnect()  # type: ignore[no-untyped-call]  # redis-py's

    @abstractmethod
    def answer(self, connection: AbstractConnection, place: Place) -> Place:
        """Ask on a connection, and read the answer.

        Raises:
            redis.exceptions.RedisError: the answer is of no use.

        """

    def _nobody(self, trouble: exceptions.RedisError | None) -> exceptions.RedisError:
        problem = f"no {self.asked} of {listed(self.places)} could say where the primary is"
        message = f"{problem}: {trouble}" if trouble else problem
        if isinstance(trouble, exceptions.AuthenticationError | exceptions.NoPermissionError):
            return type(trouble)(message)
        return exceptions.ConnectionError(message)
