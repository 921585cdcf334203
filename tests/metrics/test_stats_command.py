"""`qless-stats`: gauges for statsd by the names of the original, and the text of Prometheus."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from qless_core.metrics import command
from qless_core.metrics.statsd import PACKET, lines, packets
from tests.support.processes import ROOT


@pytest.fixture
def statsd():
    """Listen as a statsd does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(10)
        yield listening


def run(server, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "qless_core.metrics.command", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": server.url},
        check=False,
        capture_output=True,
        text=True,
        **options,
    )


def heard(listening, until):
    """Hear datagrams until one is there; the last gauge of a round is `workers`."""
    found = []
    while not any(until in each for each in found):
        found += [listening.recv(65_536).decode()]
    return found


def test_c15_every_gauge_has_the_name_of_the_original(measured):
    told = dict(line.split(":") for line in lines(command.measured(measured)))

    assert told == {
        "queues.queue.waiting": "4|g",
        "queues.queue.running": "1|g",
        "queues.queue.stalled": "0|g",
        "queues.queue.scheduled": "1|g",
        "queues.queue.depends": "1|g",
        "queues.queue.recurring": "1|g",
        "queues.queue.paused": "0|g",
        "queues.queue.completed": "2|g",
        "queues.queue.popped": "4|g",
        "queues.queue.failed": "1|g",
        "queues.queue.failures": "1|g",
        "queues.queue.retries": "0|g",
        "queues.queue.run.avg": "3|g",
        "queues.queue.run.std-dev": "1.414214|g",
        "queues.queue.wait.avg": "13.5|g",
        "queues.queue.wait.std-dev": "3|g",
        "queues.other.waiting": "1|g",
        "queues.other.running": "0|g",
        "queues.other.stalled": "0|g",
        "queues.other.scheduled": "0|g",
        "queues.other.depends": "0|g",
        "queues.other.recurring": "0|g",
        "queues.other.paused": "1|g",
        "queues.other.completed": "0|g",
        "queues.other.popped": "0|g",
        "queues.other.failed": "0|g",
        "queues.other.failures": "0|g",
        "queues.other.retries": "0|g",
        "queues.other.run.avg": "0|g",
        "queues.other.run.std-dev": "0|g",
        "queues.other.wait.avg": "0|g",
        "queues.other.wait.std-dev": "0|g",
        "failures.FailureType": "1|g",
        "failed": "1|g",
        "workers": "1|g",
    }


def test_what_is_measured_is_what_the_script_says(measured):
    found = command.measured(measured)
    (queue,) = (each for each in found.queues if each.jobs.name == "queue")
    stats = measured.stats.get("queue")

    assert (queue.run.count, queue.run.mean) == (stats.run.count, stats.run.mean)
    assert queue.run.deviation == pytest.approx(stats.run.std)
    assert queue.wait.deviation == pytest.approx(stats.wait.std)
    assert (queue.failures, queue.failed, queue.retries) == (
        stats.failures,
        stats.failed,
        stats.retries,
    )
    assert found.groups == measured.failures.groups


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("arguments", [("--once",), ("--count=1",), ("--count", 1, "--packed")])
def test_it_sends_once_and_ends(server, statsd, arguments):
    port = statsd.getsockname()[1]

    done = run(server, "statsd", "--host", "127.0.0.1", "--port", port, *arguments)
    packets = heard(statsd, "workers:")

    assert (done.returncode, done.stderr) == (0, "")
    told = [line for packet in packets for line in packet.split("\n")]
    assert "queues.other.waiting:1|g" in told
    assert "failures.FailureType:1|g" in told
    assert (len(packets) < len(told)) is ("--packed" in arguments)


@pytest.mark.usefixtures("measured")
def test_namespace_and_postfix_stand_around_every_name(server, statsd):
    port = statsd.getsockname()[1]

    run(
        server, "statsd", "--once", "--host", "127.0.0.1", "--port", port,
        "--namespace", "prod.qless", "--postfix", "eu-1",
    )  # fmt: skip

    told = heard(statsd, "workers")
    assert "prod.qless.queues.other.waiting.eu-1:1|g" in told
    assert all(line.startswith("prod.qless.") and ".eu-1:" in line for line in told)


def test_it_goes_on_each_interval_until_it_is_ended(server, measured, statsd):
    port = statsd.getsockname()[1]
    with subprocess.Popen(
        [
            sys.executable, "-m", "qless_core.metrics.command", "statsd",
            "--host", "127.0.0.1", "--port", str(port), "--interval", "0.05",
        ],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": server.url},
    ) as process:  # fmt: skip
        heard(statsd, "workers:")
        measured.queues["other"].put("Job", {}, jid="one-more")
        heard(statsd, "queues.other.waiting:2|g")
        process.send_signal(signal.SIGTERM)

        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a:b|c@d", "a_b_c_d"),
        ("a b\nc\td", "a_b_c_d"),
        ("Shop::Mail", "Shop.Mail"),
        ("ü", "ü"),
        ("\udcff", "\\xff"),
    ],
)
def test_a_name_cannot_break_a_line_of_statsd(client, name, told):
    client.queues[name].put("Job", {})

    names = {line.rsplit(":", 1)[0] for line in lines(command.measured(client))}

    assert f"queues.{told}.waiting" in names
    assert all("\n" not in each and "|" not in each for each in names)


def test_packets_fit_into_a_network(measured):
    told = list(lines(command.measured(measured)))
    sent = list(packets(told, PACKET))

    assert max(len(packet) for packet, _ in sent) <= PACKET
    assert b"\n".join(packet for packet, _ in sent).decode().split("\n") == told
    assert [number for _, number in packets(told, 0)] == [1] * len(told)


@pytest.mark.usefixtures("measured")
def test_prometheus_text_goes_to_the_output_or_into_a_file(server, tmp_path):
    place = tmp_path / "qless.prom"

    said = run(server, "prometheus")
    kept = run(server, "prometheus", "--once", "--to", place)

    assert (said.returncode, kept.returncode, kept.stdout) == (0, 0, "")
    assert 'qless_queue_jobs{queue="other",state="waiting"} 1.0' in said.stdout
    assert "qless_up 1.0" in place.read_text()
    assert list(tmp_path.iterdir()) == [place]


def test_without_redis_it_says_so_and_hides_the_password():
    done = subprocess.run(
        [
            sys.executable, "-m", "qless_core.metrics.command", "statsd", "--once",
            "--redis-url", "redis://:s3cr3t@127.0.0.1:1/0",
        ],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.startswith("qless-stats: ")
    assert "Traceback" not in done.stderr
    assert "s3cr3t" not in done.stderr


def test_a_redis_that_is_away_for_a_while_ends_nothing(tmp_path, statsd):
    from qless_core import Client  # noqa: PLC0415 - of a server that this test starts
    from qless_core.embedded import EmbeddedServer  # noqa: PLC0415 - as above

    port = statsd.getsockname()[1]
    server = EmbeddedServer(tmp_path / "later")
    url = f"unix://{tmp_path}/later/valkey.sock"
    with subprocess.Popen(
        [
            sys.executable, "-m", "qless_core.metrics.command", "statsd", "--redis-url", url,
            "--host", "127.0.0.1", "--port", str(port), "--interval", "0.05",
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        assert "qless-stats: " in process.stderr.readline()
        with server, Client(server.url) as client:
            client.queues["mail"].put("Job", {})
            heard(statsd, "queues.mail.waiting:1|g")
        process.send_signal(signal.SIGINT)
        process.stderr.read()

        assert process.wait(10) in {0, 1}


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("statsd", "--interval", "0"), ("statsd", "--interval", "nan"),
        ("statsd", "--port", "0"), ("statsd", "--count", "0"), ("prometheus", "--count", "-1"),
        ("statsd", "--colour", "red"), ("graphite",),
    ],
)  # fmt: skip
def test_a_command_line_that_makes_no_sense_is_refused(server, arguments):
    done = run(server, *arguments)

    assert done.returncode == 2
    assert "usage: qless-stats" in done.stderr


def test_measuring_takes_three_round_trips_and_writes_nothing(redis, measured, monkeypatch):
    from redis import connection  # noqa: PLC0415 - the fixture has the name

    trips = []
    send = connection.AbstractConnection.send_packed_command
    before = {key: redis.dump(key) for key in redis.scan_iter()}
    monkeypatch.setattr(
        connection.AbstractConnection,
        "send_packed_command",
        lambda self, told, *rest, **more: trips.append(told) or send(self, told, *rest, **more),
    )

    command.measured(measured)
    sent = len(trips)
    monkeypatch.undo()

    assert 0 < sent <= 3
    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


def test_numbers_that_others_left_in_redis_are_none_of_a_graph(redis, measured, clock):
    day = int(clock.now()) // 86_400 * 86_400
    redis.hset(f"ql:s:run:{day}:queue", mapping={"total": "nan", "mean": "inf", "vk": "-5"})
    redis.hset(f"ql:s:stats:{day}:queue", mapping={"failures": "-7", "failed": "x"})

    told = list(lines(command.measured(measured)))

    assert "queues.queue.completed:0|g" in told
    assert "queues.queue.failures:0|g" in told
    assert not any("nan" in line or "inf" in line for line in told)


def test_beyond_a_thousand_queues_it_says_how_many_are_left_out(client, monkeypatch):
    # The read has the name of its module.
    monkeypatch.setattr(sys.modules["qless_core.reads.gauges"], "MEASURED", 2)
    for name in "abcd":
        client.queues[name].put("Job", {}, jid=name)
        client.queues[name].pop().fail(name, "no")

    found = command.measured(client)

    assert [each.jobs.name for each in found.queues] == ["a", "b"]
    assert (found.queues_left_out, len(found.groups), found.groups_left_out) == (2, 2, 2)
    assert found.failed == 4
