"""Section E of the field cases: what is large is read in parts."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from qless_core import reads
from qless_core.errors import RedisBusy
from qless_core.reads.plan import Slice, run
from qless_core.reads.rows import MESSAGE_HEAD
from tests.support.polling import eventually


@pytest.fixture
def cost(client, redis):
    """Run a read; answers how many commands, round trips and bytes of replies it took."""

    def cost(plan):
        trips = 0

        def counted(scope):
            nonlocal trips
            batches, replies = plan(scope), None
            while True:
                try:
                    calls = next(batches) if replies is None else batches.send(replies)
                except StopIteration as stop:
                    return stop.value
                trips += 1
                replies = yield calls

        redis.config_resetstat()
        run(client.redis, client.keys, [counted], now=client.now())
        stats = redis.info("stats")
        commands = sum(each["calls"] for each in redis.info("commandstats").values())
        return commands, trips, stats["total_net_output_bytes"]

    return cost


def fill(redis, number):
    """Store so many jobs in each state, groups, tags, queues and workers."""
    with redis.pipeline(transaction=False) as pipeline:
        for each in range(number):
            for state, key in (
                ("waiting", "ql:q:q-work"),
                ("running", "ql:q:q-locks"),
                ("scheduled", "ql:q:q-scheduled"),
                ("depends", "ql:q:q-depends"),
                ("complete", "ql:completed"),
            ):
                jid = f"{state}-{each}"
                job = {"jid": jid, "klass": "K", "state": state, "queue": "q", "worker": "w"}
                pipeline.hset(f"ql:j:{jid}", mapping={**job, "data": "{}", "tags": '["t"]'})
                pipeline.zadd(key, {jid: 1e10 + each})
                pipeline.zadd("ql:t:t", {jid: each})
                pipeline.zadd("ql:tracked", {jid: each})
            pipeline.zadd("ql:w:w:jobs", {f"running-{each}": 1e10 + each})
            failure = json.dumps({"group": "g", "message": "m", "when": 1, "worker": "w"})
            job = {"jid": f"f-{each}", "klass": "K", "state": "failed", "queue": "q"}
            pipeline.hset(f"ql:j:f-{each}", mapping={**job, "failure": failure})
            pipeline.lpush("ql:f:g", f"f-{each}")
            pipeline.lpush(f"ql:f:g-{each}", f"f-{each}")
            pipeline.sadd("ql:failures", "g", f"g-{each}")
            pipeline.zadd("ql:tags", {f"t-{each}": 2})
        pipeline.zadd("ql:queues", {"q": 1})
        pipeline.zadd("ql:workers", {"w": 1e10})
        pipeline.execute()


PART = Slice(0, 25)
PAGES = {
    "group": lambda: reads.failure_jobs("g", PART),
    "completed": lambda: reads.completed(PART),
    "tags": lambda: reads.tags(PART),
    "waiting": lambda: reads.queue_jobs("q", "waiting", PART),
    "running": lambda: reads.queue_jobs("q", "running", PART),
    "scheduled": lambda: reads.queue_jobs("q", "scheduled", PART),
    "depends": lambda: reads.queue_jobs("q", "depends", PART),
    "worker": lambda: reads.worker("w", PART),
    "queue": lambda: reads.queue("q"),
}


@pytest.mark.parametrize("name", PAGES)
def test_b29_b31_a_page_costs_the_same_however_much_there_is(redis, cost, name):
    fill(redis, 50)
    few = cost(PAGES[name]())
    fill(redis, 1000)
    many = cost(PAGES[name]())

    assert many[0] <= few[0]
    assert many[1] == few[1] <= 3
    assert many[2] < few[2] + 3000


@pytest.mark.parametrize("name", ["tracked", "tagged", "groups"])
def test_b27_b29_lists_that_are_sorted_by_state_read_the_jobs_of_one_page(redis, cost, name):
    pages = {
        "tracked": lambda: reads.tracked(PART),
        "tagged": lambda: reads.tagged("t", PART),
        "groups": lambda: reads.failure_groups(PART),
    }
    fill(redis, 50)
    few = cost(pages[name]())
    fill(redis, 1000)
    many = cost(pages[name]())

    assert many[1] == few[1] <= 3
    # A word or a number for each that is listed, and no more.
    assert many[2] < few[2] + 1000 * 5 * 60


def test_b28_every_listing_of_the_client_pages_through_all(client, redis):
    fill(redis, 130)
    queue = client.queues["q"]

    def walked(page, step=40):
        met = []
        while found := page(len(met), step):
            assert len(found) <= step
            met.extend(found)
        return met

    for listing in (
        queue.jobs.running,
        queue.jobs.scheduled,
        queue.jobs.depends,
        client.jobs.complete,
        lambda start, count: client.jobs.tagged("t", start, count).jids,
        lambda start, count: [job.jid for job in client.failures.jobs("g", start, count).jobs],
    ):
        met = walked(listing)
        assert len(met) == len(set(met)) in (130, 650)
    assert sorted(walked(client.tags.top)) == sorted(f"t-{each}" for each in range(130))


#: Bytes of what is read of a job, of its place and of its group beside its failure, at most.
BESIDE = 4_000
#: Bytes of a message that we record, at most, with what is said of the cut.
RECORDED = 32_768 + 100


def test_b32_lists_carry_no_data_and_of_messages_what_is_recorded(client, redis, cost):
    """Of a message that other clients recorded in full, Redis sends all, and a row has its head."""
    jids = [f"j-{number}" for number in range(5)]
    for jid in jids:
        client.queues["q"].put("K", {"x": "d" * 2_000_000}, jid=jid, tags=["t"])
        client.queues["q"].pop().fail("g", "m" * 1_000_000)
    plans = (
        lambda: reads.failure_jobs("g", PART),
        lambda: reads.failure_groups(PART),
        lambda: reads.tagged("t", PART),
        reads.overview,
    )

    for plan in plans:
        assert cost(plan())[2] < len(jids) * (RECORDED + BESIDE)

    message = "m" * 1_000_000
    failure = {"group": "g", "message": message, "when": 1, "worker": "w"}
    for jid in jids:
        redis.hset(f"ql:j:{jid}", "failure", json.dumps(failure))
    for plan in plans:
        assert cost(plan())[2] < len(jids) * (len(message) + BESIDE)
    _, (page,) = run(client.redis, client.keys, [reads.failure_jobs("g", PART)], now=client.now())
    assert {row.failure_message for row in page.rows} == {message[:MESSAGE_HEAD]}
    assert all(len(repr(row)) < MESSAGE_HEAD + 1_000 for row in page.rows)
    assert json.loads(redis.hget("ql:j:j-1", "failure"))["message"] == message


def test_b31_a_page_of_workers_reads_what_its_own_workers_hold(redis, cost):
    def fill_workers(number):
        with redis.pipeline(transaction=False) as pipeline:
            for each in range(number):
                name, jid = f"w-{each:04}", f"j-{each}"
                pipeline.zadd("ql:workers", {name: 1e10})
                pipeline.zadd(f"ql:w:{name}:jobs", {jid: 1e10})
                job = {"jid": jid, "state": "running", "queue": "q", "worker": name}
                pipeline.hset(f"ql:j:{jid}", mapping=job)
            pipeline.execute()

    fill_workers(50)
    few = cost(reads.workers(PART))
    fill_workers(5_000)
    many = cost(reads.workers(PART))

    assert many[0] <= few[0]
    assert many[1] == few[1] <= 3
    # The names and when each was seen, and no more of those on other pages.
    assert many[2] - few[2] < 5_000 * 40


def test_workers_that_are_only_counted_to_be_put_in_order_are_asked_no_more(redis, cost):
    """By name nothing is asked of workers of other pages; by what they run, how many and which."""
    workers, children = 60, 8
    with redis.pipeline(transaction=False) as pipeline:
        for each in range(workers):
            for name in (f"w{each}", *(f"w{each}-{child}" for child in range(children))):
                pipeline.zadd("ql:workers", {name: 1e10})
                pipeline.zadd(f"ql:w:{name}:jobs", {f"j-{name}": 1e10})
        pipeline.execute()

    by_name = cost(reads.workers(PART, grouped=True))
    by_running = cost(reads.workers(PART, grouped=True, order="running"))

    assert by_running[1] == by_name[1] <= 3
    elsewhere = workers - PART.count
    assert by_running[0] - by_name[0] <= elsewhere * (5 + 2 * children)


def test_b34_while_a_script_keeps_redis_busy_nothing_is_lost(client, redis, server):
    """It is told of as that, and goes on by itself when the script is over."""
    client.queues["q"].put("K", {}, jid="j")
    job = client.queues["q"].pop()
    redis.config_set("busy-reply-threshold", 1)
    with Redis.from_url(server.url) as other, ThreadPoolExecutor(1) as pool:
        endless = pool.submit(other.eval, "while true do end", 0)
        try:
            eventually(lambda: is_busy(redis))
            for call in (job.heartbeat, job.complete, client.queues["q"].pop):
                with pytest.raises(RedisBusy):
                    call()
        finally:
            redis.script_kill()
            assert endless.exception(10)
            redis.config_set("busy-reply-threshold", 5_000)

    job.heartbeat()
    job.complete()
    assert client.jobs["j"].state == "complete"


def is_busy(redis):
    try:
        redis.ping()
    except ResponseError as error:
        return str(error).startswith("BUSY")
    return False


def test_b34_a_pop_moves_and_reads_only_what_it_is_asked_for(lua, redis):
    with redis.pipeline(transaction=False) as pipeline:
        for number in range(20_000):
            jid = f"j-{number}"
            pipeline.hset(f"ql:j:{jid}", mapping={"jid": jid, "state": "scheduled", "queue": "q"})
            pipeline.zadd("ql:q:q-scheduled", {jid: 1})
        pipeline.execute()
    lua("recur", 1, "q", "r", "K", "{}", "interval", 0.01, 0)

    for call in (("queues", 1000), ("peek", 1000, "q", 5), ("pop", 1000, "q", "w", 5)):
        redis.config_resetstat()
        lua(*call)
        assert sum(each["calls"] for each in redis.info("commandstats").values()) < 250, call
    assert redis.zcard("ql:q:q-scheduled") >= 20_000 - 5
