"""The command `qless-stats`: sends gauges to statsd, or writes the text that Prometheus reads."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qless_core import reads
from qless_core.client import Client
from qless_core.clock import SERVER
from qless_core.command_line import Parser
from qless_core.connection import DEFAULT_NAMESPACE, DEFAULT_URL
from qless_core.errors import QlessError
from qless_core.masking import hushed
from qless_core.metrics.statsd import Statsd, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.reads.gauges import Gauges

    #: Tells what was measured.
    Teller = Callable[[Gauges], None]

#: Redis or the place to tell it to cannot be reached. (2, a senseless command line, is argparse's.)
FAILED: Final = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run `qless-stats`; answers the exit code."""
    arguments = _parser().parse_args(argv)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        with Client(arguments.redis_url, namespace=arguments.redis_namespace) as client:
            return int(arguments.run(client, arguments, stop))
    except (QlessError, OSError) as error:
        _complain(error)
        return FAILED


def measured(client: Client) -> Gauges:
    """Measure everything now.

    Raises:
        RedisUnavailable: Redis cannot be asked.

    """
    stamp = client.clock.stamp()
    now = None if stamp == SERVER else float(stamp)
    _, (found,) = reads.run(client.redis, client.keys, (reads.gauges(),), now=now)
    return found  # type: ignore[no-any-return]  # what the read gives


def _statsd(client: Client, arguments: argparse.Namespace, stop: threading.Event) -> int:
    with Statsd(arguments.host, arguments.port, packed=arguments.packed) as statsd:

        def tell(found: Gauges) -> None:
            told = lines(found, namespace=arguments.namespace, postfix=arguments.postfix)
            statsd.send(told)

        return _again_and_again(client, arguments, stop, tell)


def _prometheus(client: Client, arguments: argparse.Namespace, stop: threading.Event) -> int:
    from qless_core.metrics.prometheus import text  # noqa: PLC0415 - statsd needs none of it

    def tell(found: Gauges) -> None:
        written, _ = text(found)
        if arguments.to is None:
            sys.stdout.write(written.decode())
            sys.stdout.flush()
        else:
            _replaced(arguments.to, written)

    if arguments.to is None and not arguments.count:
        arguments.count = 1
    return _again_and_again(client, arguments, stop, tell)


def _replaced(place: Path, written: bytes) -> None:
    """Write a file whole, so that nobody reads half of it."""
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    beside.write_bytes(written)
    beside.replace(place)


def _again_and_again(
    client: Client, arguments: argparse.Namespace, stop: threading.Event, tell: Teller
) -> int:
    """Measure and tell, each interval; answers the exit code.

    What goes wrong once in a long run is said, and the next time tried again.
    """
    count = 1 if arguments.once else arguments.count
    begin, done, failed = client.clock.monotonic(), 0, False
    while not stop.is_set():
        try:
            tell(measured(client))
            failed = False
        except (QlessError, OSError) as error:
            _complain(error)
            failed = True
        done += 1
        if done == count:
            break
        ahead = begin + done * arguments.interval - client.clock.monotonic()
        client.clock.wait(ahead, stop)
    return FAILED if failed else 0


def _complain(problem: object) -> None:
    sys.stderr.write(f"qless-stats: {hushed(str(problem))}\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="qless-stats",
        description="Measure the queues, and tell statsd or Prometheus.",
        allow_abbrev=False,
    )
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    statsd = _kind(kinds, "statsd", _statsd, "send gauges to a statsd, over UDP")
    statsd.add_argument("--host", default="localhost", help="where statsd is (%(default)s)")
    statsd.add_argument("--port", type=_port, default=8125, help="its port (%(default)s)")
    statsd.add_argument("--namespace", default="", help="what stands before every name")
    statsd.add_argument("--postfix", default="", help="what stands behind every name")
    statsd.add_argument(
        "--packed", action="store_true", help="many gauges in one datagram, for many queues"
    )
    prometheus = _kind(
        kinds, "prometheus", _prometheus, "write the text that Prometheus reads, once"
    )
    prometheus.add_argument(
        "--to", type=Path, metavar="FILE", help="replace this file each interval, instead"
    )
    return parser


def _kind(
    kinds: Any,  # noqa: ANN401 - argparse keeps the type of subparsers to itself
    name: str,
    run: Callable[[Client, argparse.Namespace, threading.Event], int],
    text: str,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(
        name, help=text, description=text, allow_abbrev=False
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--redis-url",
        "--redis",
        default=os.environ.get("REDIS_URL") or DEFAULT_URL,
        help="where Redis is (else REDIS_URL)",
    )
    parser.add_argument(
        "--redis-namespace", default=DEFAULT_NAMESPACE, help="what keys begin with (%(default)s)"
    )
    parser.add_argument(
        "--interval", type=_seconds, default=60.0, help="seconds between two times (%(default)g)"
    )
    parser.add_argument(
        "--count", type=_times, default=0, help="how often; without it, until it is ended"
    )
    parser.add_argument("--once", action="store_true", help="as --count 1")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        problem = "must be more than 0 seconds"
        raise argparse.ArgumentTypeError(problem)
    return seconds


def _times(text: str) -> int:
    count = int(text)
    if count < 1:
        problem = "must be 1 or more"
        raise argparse.ArgumentTypeError(problem)
    return count


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65_536:  # noqa: PLR2004 - as ports are
        problem = "must be from 1 to 65535"
        raise argparse.ArgumentTypeError(problem)
    return port


if __name__ == "__main__":
    sys.exit(main())
