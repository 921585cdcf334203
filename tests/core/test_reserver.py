from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.errors import BadArgument, NotPermitted, RedisUnavailable
from qless_core.testing import FrozenClock, NullClient
from tests.support.polling import eventually

ROOT = Path(__file__).parents[2]

#: Seconds after which a test gives up on one who waits.
PATIENCE_S = 20


@pytest.fixture
def client(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Make a client that goes by the server's clock."""
    with Client(server.url, worker_name="worker-1") as client:
        yield client


@pytest.fixture(autouse=True)
def block_long(monkeypatch):
    """Block for longer than a test has patience, so that nothing is found by just waiting."""
    monkeypatch.setattr("qless_core.reserver.BLOCK_S", 5 * PATIENCE_S)


class Waiter(threading.Thread):
    """A thread that waits for jobs; its results are in `got`."""

    def __init__(self, pop, **options):
        super().__init__(daemon=True)
        self.got = []
        self.error = None
        self._pop = pop
        self._options = {"timeout": 5 * PATIENCE_S, **options}
        self.start()

    def run(self):
        try:
            self.got.append(self._pop(**self._options))
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    @property
    def job(self):
        self.join(PATIENCE_S)
        assert not self.is_alive(), "it waits still"
        if self.error:
            raise self.error
        return self.got[0]


def blocked(redis, count=1):
    """Wait until so many clients block."""
    return eventually(lambda: redis.info("clients")["blocked_clients"] == count)


def calls(redis, command="bzpopmin"):
    return redis.info("commandstats").get(f"cmdstat_{command}", {"calls": 0})["calls"]


def test_it_takes_what_is_there_at_once(client):
    client.queues["b"].put("Job", {"n": 1}, jid="job")

    job = client.reserver(["a", "b"]).pop(timeout=5 * PATIENCE_S)

    assert (job.jid, job.queue_name, job.data) == ("job", "b", {"n": 1})
    assert (job.state, job.worker_name) == ("running", "worker-1")


def test_without_a_timeout_it_does_not_wait(client, redis):
    reserver = client.reserver(["a", "b"])
    asked = calls(redis)

    assert reserver.pop() is None
    assert reserver.pop(5) == []
    assert calls(redis) == asked
    assert [*redis.scan_iter("ql:*")] == ["ql:workers"]

    client.queues["b"].put("Job", {}, jid="job")
    assert reserver.pop().jid == "job"


def test_it_gives_up_when_the_time_is_over(client):
    assert client.queues["q"].pop(timeout=0.01) is None
    assert client.queues["q"].pop(3, timeout=0.01) == []
    assert client.reserver("q").pop(timeout=0.01) is None


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_timeout_that_makes_no_sense_is_refused(client, timeout):
    with pytest.raises(BadArgument, match="timeout"):
        client.queues["q"].pop(timeout=timeout)


def test_a_reserver_of_nothing_is_refused(client):
    with pytest.raises(BadArgument, match="at least one queue"):
        client.reserver([])


def test_queues_may_be_given_as_objects_and_twice(client):
    queues = client.queues

    assert client.reserver(queues["a"]).queues == ("a",)
    assert client.reserver([queues["a"], "b", "a"]).queues == ("a", "b")
    assert client.reserver("ab").queues == ("ab",)
    assert client.reserver(["a", "b"]).group == client.reserver(["b", "a"]).group
    assert client.reserver(["a", "b"]).group != client.reserver(["a"]).group


def test_one_who_waits_gets_what_is_put(client, redis):
    """Q17."""
    waiter = Waiter(client.reserver(["a", "b"]).pop)
    blocked(redis)

    client.queues["b"].put("Job", {}, jid="job")

    assert waiter.job.jid == "job"


def test_a_list_is_what_is_there_when_the_first_one_comes(client, redis):
    waiter = Waiter(client.queues["q"].pop, count=5)
    blocked(redis)

    client.queues["q"].put_many([("Job", {})] * 3)

    assert len(waiter.job) == 3


def test_one_job_is_run_by_one_of_two(client, redis):
    waiters = [Waiter(client.queues["q"].pop) for _ in range(2)]
    blocked(redis, 2)

    client.queues["q"].put("Job", {}, jid="first")
    eventually(lambda: any(waiter.got for waiter in waiters))
    client.queues["q"].put("Job", {}, jid="second")

    assert {waiter.job.jid for waiter in waiters} == {"first", "second"}


def test_each_put_wakes_one_and_nobody_else_asks(client, redis):
    count = 10
    waiters = [Waiter(client.queues["q"].pop) for _ in range(count)]
    blocked(redis, count)
    asked = calls(redis)

    for number in range(count):
        client.queues["q"].put("Job", {}, jid=f"job-{number}")
        blocked(redis, count - 1 - number)

    assert {waiter.job.jid for waiter in waiters} == {f"job-{n}" for n in range(count)}
    # A lookout that goes wakes one more, who takes over and blocks again.
    assert calls(redis) - asked < count + 5


def test_all_of_many_jobs_put_at_once_run(client, redis):
    stop = threading.Event()
    done = []

    def work(timeout):
        for job in client.reserver(["a", "b"], stop=stop):
            job.complete()
            done.append(job.jid)
        return timeout

    waiters = [Waiter(work) for _ in range(10)]
    blocked(redis, 10)

    jids = client.queues["b"].put_many([("Job", {})] * 25)
    jids += [client.queues["a"].put("Job", {}) for _ in range(25)]

    eventually(lambda: len(done) == 50)
    stop.set()
    assert [waiter.job for waiter in waiters] == [5 * PATIENCE_S] * 10
    assert sorted(done) == sorted(jids)


def test_what_is_due_wakes_one(client, redis):
    waiters = [Waiter(client.queues["q"].pop) for _ in range(3)]
    blocked(redis, 3)

    client.queues["q"].put("Job", {}, delay=0.3, jid="later")
    client.queues["q"].put("Job", {}, delay=0.4, jid="last")

    eventually(lambda: sum(1 for waiter in waiters if waiter.got) == 2)
    client.queues["q"].put("Job", {}, jid="now")
    assert {waiter.job.jid for waiter in waiters} == {"later", "last", "now"}


def test_a_recurring_job_comes_again_and_again(client):
    client.queues["q"].recur("Job", {}, 0.2, jid="rec")
    reserver = client.reserver("q")

    jids = [reserver.pop(timeout=5 * PATIENCE_S).jid for _ in range(3)]

    assert jids == ["rec-1", "rec-2", "rec-3"]


def test_a_lock_that_runs_out_wakes_one_who_waits(client, redis):
    client.config["grace-period"] = 0
    redis.hset("ql:config", "q-heartbeat", 0.3)
    client.queues["q"].put("Job", {}, jid="job")
    client.queues["q"].pop()

    other = Client(client.url, worker_name="worker-2")
    waiter = Waiter(other.queues["q"].pop)

    assert waiter.job.worker_name == "worker-2"


def test_a_paused_queue_gives_its_jobs_when_it_is_unpaused(client, redis):
    client.queues["q"].pause()
    waiter = Waiter(client.queues["q"].pop)
    blocked(redis)
    client.queues["q"].put("Job", {}, jid="job")
    asked = calls(redis)

    client.queues["q"].unpause()

    assert waiter.job.jid == "job"
    # The one call that blocked counts when it is over.
    assert calls(redis) - asked <= 1


def test_what_a_foreign_client_put_is_found(client, redis):
    waiter = Waiter(client.queues["q"].pop)
    blocked(redis)

    redis.hset("ql:j:job", mapping={"jid": "job", "klass": "K", "data": "{}", "queue": "q"})
    redis.zadd("ql:q:q-work", {"job": 1})

    assert waiter.job.jid == "job"


def test_an_event_ends_the_waiting(client, redis):
    stop = threading.Event()
    waiter = Waiter(client.reserver("q", stop=stop).pop, timeout=None)
    blocked(redis)

    stop.set()

    assert waiter.job is None


def test_stop_ends_all_waiting_and_another_takes_over(client, redis):
    reserver = client.reserver("q")
    waiters = [Waiter(reserver.pop, timeout=None) for _ in range(3)]
    blocked(redis, 3)
    other = Waiter(client.reserver("q").pop)
    blocked(redis, 4)

    reserver.stop()

    assert [waiter.job for waiter in waiters] == [None] * 3
    assert reserver.is_stopped
    assert list(reserver) == []
    client.queues["q"].put("Job", {}, delay=0.2, jid="job")
    assert other.job.jid == "job"


def test_a_connection_is_given_back(client, redis):
    client.queues["q"].pop(timeout=0.01)
    before = redis.info("clients")["connected_clients"]

    for _ in range(10):
        client.queues["q"].pop(timeout=0.01)

    # One to block on, and one to look with meanwhile.
    assert redis.info("clients")["connected_clients"] <= before + 1


def test_what_is_raised_while_it_waits_loses_no_job(client, monkeypatch):
    def interrupt(*_):
        client.queues["q"].put("Job", {}, jid="job")
        raise KeyboardInterrupt

    monkeypatch.setattr("qless_core.bell.Bell.rings", interrupted(interrupt))

    with pytest.raises(KeyboardInterrupt):
        client.queues["q"].pop(timeout=5 * PATIENCE_S)

    assert client.queues["q"].pop().jid == "job"
    assert client.jobs["job"].retries_left == 5


def interrupted(act):
    """Make a `rings` that does something else the first time."""
    from qless_core.bell import Bell  # noqa: PLC0415 - before it is replaced

    plain, calls = Bell.rings, []

    def rings(self, seconds):
        calls.append(seconds)
        return act() if len(calls) == 1 else plain(self, seconds)

    return rings


def test_time_that_stands_still_is_looked_at_again(server, redis):
    clock = FrozenClock()
    with Client(server.url, clock=clock, worker_name="w") as client:
        client.queues["q"].put("Job", {}, delay=60, jid="job")
        waiter = Waiter(client.queues["q"].pop)
        blocked(redis)

        clock.advance(61)

        assert waiter.job.jid == "job"


def test_a_null_client_has_nothing():
    assert NullClient().queues["q"].pop(timeout=0.01) is None


def test_a_server_that_was_started_anew_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("qless_core.reserver.LONGEST_PAUSE_S", 0.1)
    with EmbeddedServer(directory=tmp_path) as server:
        client = Client(server.url)
        waiter = Waiter(client.queues["q"].pop)
        with client.redis.client() as redis:
            blocked(redis)
            redis.shutdown(nosave=True)

    with EmbeddedServer(directory=tmp_path) as server:
        client.queues["q"].put("Job", {}, jid="job")

        assert waiter.job.jid == "job"


def test_a_server_that_stays_away_is_told_when_the_time_is_over():
    client = Client("unix:///there-is-no-redis-here")

    with pytest.raises(RedisUnavailable):
        client.queues["q"].pop(timeout=0.05)


def test_a_connection_that_is_cut_is_made_anew(client, redis):
    waiter = Waiter(client.queues["q"].pop)
    blocked(redis)

    redis.client_kill_filter(_type="normal", skipme=True)
    blocked(redis)
    client.queues["q"].put("Job", {}, jid="job")

    assert waiter.job.jid == "job"


def test_a_script_that_was_forgotten_is_loaded_again(client, redis):
    waiter = Waiter(client.queues["q"].pop)
    blocked(redis)

    redis.function_flush()
    redis.script_flush()
    client.queues["q"].put("Job", {}, jid="job")

    assert waiter.job.jid == "job"


def test_a_user_who_may_not_block_is_told(client, redis):
    redis.acl_setuser(
        "limited", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-bzpopmin"]
    )
    path = client.url.removeprefix("unix://")
    limited = Client(f"unix://limited:x@{path}")

    with pytest.raises(NotPermitted, match="bzpopmin"):
        limited.queues["q"].pop(timeout=5 * PATIENCE_S)


def test_waiting_needs_a_script_that_is_called_by_its_sum_where_there_are_no_functions(
    client, redis
):
    client._runner.as_function = False  # noqa: SLF001 - as on a server of old
    waiter = Waiter(client.queues["q"].pop)
    blocked(redis)

    client.queues["q"].put("Job", {}, jid="job")

    assert waiter.job.jid == "job"


def test_a_client_with_patience_waits_too(server, redis):
    client = Client(server.url, patience=5)
    waiter = Waiter(client.queues["q"].pop)
    blocked(redis)

    client.queues["q"].put("Job", {}, jid="job")

    assert waiter.job.jid == "job"


WAITING = """
    import sys
    from qless_core import Client
    client = Client(sys.argv[1], worker_name=sys.argv[2])
    for job in client.reserver(["a", "q"]):
        job.complete()
"""


@contextmanager
def process(url, name):
    """Run a process that waits for jobs and finishes them."""
    program = [sys.executable, "-c", textwrap.dedent(WAITING), url, name]
    found = subprocess.Popen(program, cwd=ROOT, start_new_session=True)
    try:
        yield found
    finally:
        found.kill()
        found.wait()


def test_one_that_was_killed_gets_nothing(client, redis):
    with process(client.url, "dead") as dead:
        blocked(redis)
        waiter = Waiter(client.queues["q"].pop)
        blocked(redis, 2)

        dead.kill()
        blocked(redis)
        client.queues["q"].put("Job", {}, jid="job")

        assert waiter.job.jid == "job"


def test_a_lookout_that_was_killed_is_missed(client, redis, monkeypatch):
    monkeypatch.setattr("qless_core.reserver.BLOCK_S", 1.0)
    with process(client.url, "dead") as dead:
        blocked(redis)
        waiter = Waiter(client.reserver(["a", "q"]).pop)
        blocked(redis, 2)

        client.queues["q"].put("Job", {}, jid="job", delay=15)
        dead.kill()
        redis.zadd("ql:q:q-scheduled", {"job": 1})

        assert waiter.job.jid == "job"


def test_one_that_is_stopped_loses_no_job(server, redis):
    """It was handed the job, as any worker that hangs; when the lock is over, another has it."""
    clock = FrozenClock(Clock().now())
    with process(server.url, "stopped") as stopped, Client(server.url, clock=clock) as client:
        blocked(redis)
        os.kill(stopped.pid, signal.SIGSTOP)
        client.queues["q"].put("Job", {}, jid="job")
        eventually(lambda: client.jobs["job"].state == "running")
        waiter = Waiter(client.queues["q"].pop)
        blocked(redis)

        clock.advance(120)
        eventually(lambda: redis.hget("ql:j:job", "grace"))
        clock.advance(120)

        job = waiter.job
        assert (job.jid, job.retries_left) == ("job", 4)
        os.kill(stopped.pid, signal.SIGCONT)
        job.complete()
