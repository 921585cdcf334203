"""Servers that die: on TCP ports, alone, watched by Sentinels, or as a cluster."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from qless_core import embedded
from tests.support.polling import eventually
from tests.support.ports import free_port, free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    Options = Mapping[str, str | int]

_WATCHDOG = Path(embedded.__file__).with_name("watchdog.sh")

#: Milliseconds without an answer after which the others take a server for dead.
SILENCE_MS = 600


def quoted(text: str) -> str:
    """Write a text as the configuration of a server takes it, whatever is in it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Node:
    """A server in a folder of its own, which can be killed and started again.

    It ends with this process, however that ends.
    """

    def __init__(
        self,
        folder: Path,
        options: Options | None = None,
        *,
        port: int = 0,
        binary: str | None = None,
        flags: tuple[str, ...] = (),
        connection: dict[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self.binary = binary or embedded.find_server()
        self.flags = flags
        self.port = port or free_port()
        self.connection = {"port": self.port, **(connection or {})}
        folder.mkdir(parents=True)
        lines = {"bind": "127.0.0.1", "save": '""', "port": self.port, **(options or {})}
        text = "".join(f"{name} {value}\n" for name, value in {**lines, "dir": folder}.items())
        (folder / "server.conf").write_text(text)
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self, *, wait: bool = True) -> Self:
        """Start it, and wait until it answers: until it has loaded its data, unless not `wait`."""
        command = [self.binary, str(self.folder / "server.conf"), *self.flags]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", _WATCHDOG, self.folder / "none", "", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._pid = eventually(self._answers)
        if wait:
            eventually(self._is_loaded)
        return self

    def _answers(self) -> int:
        try:
            with self.redis() as redis:
                return int(redis.info("server")["process_id"])
        except RedisError:
            return 0

    def _is_loaded(self) -> bool:
        with self.redis() as redis:
            return not redis.info("persistence").get("loading")

    def redis(self, **settings: Any) -> Redis:
        """Make a plain client of it; every command on a connection that was just made."""
        made = {"decode_responses": True, "retry": Retry(NoBackoff(), 0), "socket_timeout": 5}
        return Redis(**{**made, **self.connection, **settings})

    def ask(self, *command: str | int) -> Any:
        with self.redis() as redis:
            return redis.execute_command(*command)

    def kill(self) -> None:
        """End it as a crash does."""
        os.kill(self._pid, signal.SIGKILL)
        self._wait()

    def stop(self) -> None:
        """End it in peace, as far as it is still there."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGCONT)
        self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        self._wait()

    def pause(self) -> None:
        """Let it answer no more, without ending any connection."""
        os.kill(self._pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def _wait(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.wait()
            if process.stdin and not process.stdin.closed:
                process.stdin.close()


class Cluster:
    """Primaries and as many replicas of them."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        places = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"redis+cluster://{places}?namespace={{ql}}:"

    def primary(self, key: str = "{ql}") -> Node:
        """Find the node that holds the slot of a key now, as the others see it."""
        return cast("Node", eventually(lambda: self._primary(key)))

    def _primary(self, key: str) -> Node | None:
        for node in self.nodes:
            try:
                slot = node.ask("CLUSTER", "KEYSLOT", key)
                ranges = node.ask("CLUSTER", "SLOTS")
            except RedisError:
                continue
            ports = [int(row[2][1]) for row in _rows(ranges) if row[0] <= slot <= row[1]]
            return next((each for each in self.nodes if each.port in ports), None)
        return None

    def replica_of(self, primary: Node) -> Node:
        """Find a replica that has all of its primary."""
        return cast("Node", eventually(lambda: self._replica_of(primary)))

    def _replica_of(self, primary: Node) -> Node | None:
        for node in self.nodes:
            told = node.redis().info("replication")
            if told.get("master_port") == primary.port and told["master_link_status"] == "up":
                return node
        return None

    def is_whole(self) -> bool:
        """Whether every node agrees that all is served, and every replica has all."""
        return all(_is_whole(node) for node in self.nodes)


def _rows(ranges: Any) -> list[Any]:
    """Read CLUSTER SLOTS as the server says it; redis-py makes a dictionary of it."""
    if isinstance(ranges, dict):
        return [[first, last, told["primary"]] for (first, last), told in ranges.items()]
    return list(ranges)


def _is_whole(node: Node) -> bool:
    told = node.ask("CLUSTER INFO")
    link = node.redis().info("replication").get("master_link_status", "up")
    return bool(
        told["cluster_state"] == "ok" and told["cluster_slots_ok"] == "16384" and link == "up"
    )


@contextmanager
def cluster(folder: Path, options: Options | None = None, primaries: int = 3) -> Iterator[Cluster]:
    """Run a cluster with one replica for each primary."""
    count = 2 * primaries
    ports = free_ports(2 * count)
    nodes = [
        Node(
            folder / f"node-{index}",
            {
                "cluster-enabled": "yes",
                "cluster-port": ports[count + index],
                "cluster-node-timeout": SILENCE_MS,
                "cluster-replica-validity-factor": 0,
                "repl-diskless-sync-delay": 0,
                **(options or {}),
            },
            port=ports[index],
        )
        for index in range(count)
    ]
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(node.start().stop)
        _join(nodes, primaries, ports[count:])
        found = Cluster(nodes)
        eventually(found.is_whole)
        yield found


def _join(nodes: list[Node], primaries: int, bus: list[int]) -> None:
    for index, node in enumerate(nodes[:primaries]):
        first, after = (16384 * each // primaries for each in (index, index + 1))
        node.ask("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
        node.ask("CLUSTER", "SET-CONFIG-EPOCH", index + 1)
    for node, port in zip(nodes[1:], bus[1:], strict=True):
        nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", node.port, port)
    eventually(lambda: all(len(node.ask("CLUSTER NODES")) == len(nodes) for node in nodes))
    for node, primary in zip(nodes[primaries:], nodes, strict=False):
        name = primary.ask("CLUSTER", "MYID")
        eventually(partial(_follows, node, name))


def _follows(node: Node, name: str) -> bool:
    try:
        node.ask("CLUSTER", "REPLICATE", name)
    except RedisError:
        return False
    return True


class Watched:
    """A primary and replicas, watched by Sentinels under the name `main`."""

    def __init__(self, nodes: list[Node], sentinels: list[Node]) -> None:
        self.nodes = nodes
        self.sentinels = sentinels

    @property
    def url(self) -> str:
        places = ",".join(f"127.0.0.1:{node.port}" for node in self.sentinels)
        return f"redis+sentinel://{places}/main/0"

    def primary(self) -> Node:
        """Find the primary, as the first Sentinel sees it."""
        host_and_port = self.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
        return next(node for node in self.nodes if node.port == int(host_and_port[1]))

    def is_whole(self) -> bool:
        """Whether the Sentinels know one another and every replica, and these have all."""
        told = [_flags(node.ask("SENTINEL", "MASTER", "main")) for node in self.sentinels]
        primary = self.primary()
        others = [node.redis().info("replication") for node in self.nodes if node is not primary]
        return all(
            int(each["num-other-sentinels"]) == len(self.sentinels) - 1
            and int(each["num-slaves"]) == len(others)
            for each in told
        ) and all(each.get("master_link_status") == "up" for each in others)


def _flags(told: Any) -> dict[str, Any]:
    return told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))


@contextmanager
def watched(folder: Path, options: Options | None = None, password: str = "") -> Iterator[Watched]:
    """Run a primary with two replicas, and three Sentinels."""
    given: Options = {"repl-diskless-sync-delay": 0, **(options or {})}
    if password:
        given = {**given, "requirepass": quoted(password), "masterauth": quoted(password)}
    connection = {"password": password} if password else {}
    with ExitStack() as stack:
        nodes: list[Node] = []
        for index in range(3):
            follows: Options = {"replicaof": f"127.0.0.1 {nodes[0].port}"} if index else {}
            node = Node(folder / f"server-{index}", {**given, **follows}, connection=connection)
            stack.callback(node.start().stop)
            nodes.append(node)
        sentinels = [_sentinel(folder / f"sentinel-{index}", nodes[0]) for index in range(3)]
        for sentinel in sentinels:
            _watch(sentinel, nodes[0], password)
            stack.callback(sentinel.start().stop)
        found = Watched(nodes, sentinels)
        eventually(found.is_whole)
        yield found


def _sentinel(folder: Path, primary: Node) -> Node:
    return Node(folder, binary=primary.binary, flags=("--sentinel",))


def _watch(sentinel: Node, primary: Node, password: str) -> None:
    lines = [
        f"sentinel monitor main 127.0.0.1 {primary.port} 2",
        f"sentinel down-after-milliseconds main {SILENCE_MS}",
        "sentinel failover-timeout main 4000",
    ]
    if password:
        lines.append(f"sentinel auth-pass main {quoted(password)}")
    # A Sentinel keeps no data, so it takes no `save`.
    place = sentinel.folder / "server.conf"
    kept = [line for line in place.read_text().splitlines() if not line.startswith("save")]
    place.write_text("\n".join([*kept, *lines, ""]))
