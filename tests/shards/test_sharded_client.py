"""A client of several shards has the surface of a client of one."""

from __future__ import annotations

import inspect

import pytest
from redis import Redis

from qless_core import Client
from qless_core.commands import Commands
from qless_core.errors import (
    AcrossShards,
    BadArgument,
    ForeignData,
    HasDependents,
    JobNotFound,
    NotPermitted,
    RedisUnavailable,
)
from qless_core.shards import ShardedClient
from qless_core.shards.routes import ROUTES


def public(kind):
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def put_everywhere(sharded, spread, **options):
    return [sharded.queues[queue].put("Job", {}, **options) for queue in spread]


def sent(redis):
    """Count the commands of qless that were sent since the server was told to count anew."""
    calls = redis.info("commandstats")
    return sum(calls[name]["calls"] for name in calls if "fcall" in name or "eval" in name)


def test_every_command_has_a_route():
    assert set(ROUTES) == public(Commands)


def test_it_has_all_that_a_client_has():
    assert public(Client) <= public(ShardedClient)


def test_jobs_are_put_where_their_queue_is_placed_and_found(sharded, spread):
    jids = put_everywhere(sharded, spread)

    assert [sharded.jobs[jid].queue_name for jid in jids] == spread
    for jid, shard in zip(jids, sharded.shards.values(), strict=True):
        assert [job.jid for job in shard.jobs.get(*jids)] == [jid]
        assert sharded.whereabouts.find(jid) == shard.namespace
    assert [job.jid for job in sharded.jobs.get(*jids[::-1])] == jids[::-1]
    assert sharded.jobs["nobody"] is None


def test_however_many_jids_no_shard_has_each_shard_is_asked_once(sharded, redis):
    assert sharded.jobs.get("nobody") == []
    redis.config_resetstat()

    assert sharded.jobs.get(*(f"nobody-{number}" for number in range(50))) == []

    assert sent(redis) == 4


def test_jobs_are_worked_from_pop_to_the_end(sharded, spread):
    jids = put_everywhere(sharded, spread, retries=1)
    done, failed, retried = (sharded.queues[queue].pop() for queue in spread)

    done.heartbeat()
    done.complete()
    failed.fail("group", "why")
    retried.retry()

    assert [sharded.jobs[jid].state for jid in jids] == ["complete", "failed", "waiting"]
    assert sharded.failures.groups == {"group": 1}
    assert sharded.jobs.complete() == [done.jid]


def test_a_job_of_another_shard_than_its_queue_is_popped_too(sharded, spread):
    """As one is that went on in a queue that is placed elsewhere: jobs stay on their shard."""
    (jid, *_) = put_everywhere(sharded, spread[:1])
    sharded.queues[spread[0]].pop().complete(spread[1])

    job = sharded.queues[spread[1]].pop()

    assert (job.jid, sharded.whereabouts.find(jid)) == (jid, "a:")


def test_pops_of_many_are_filled_from_all_shards(sharded):
    for shard in sharded.shards.values():
        shard.queues["q"].put("Job", {})

    assert len(sharded.queues["q"].pop(2)) == 2
    assert len(sharded.queues["q"].pop(2)) == 1
    assert sharded.queues["q"].pop(2) == []
    assert sharded.queues["q"].pop() is None


def test_no_shard_is_always_the_last_to_be_asked(sharded):
    for shard in sharded.shards.values():
        for number in range(3):
            shard.queues["q"].put("Job", {}, jid=f"{shard.namespace}{number}")

    first = {sharded.queues["q"].pop().jid[0] for _ in range(3)}

    assert first == {"a", "b", "c"}


def test_waiting_finds_a_job_on_whichever_shard(server, sharded):
    for name in sharded.shards:
        with Client(server.url, namespace=name) as late:
            late.queues["q"].put("Job", {}, jid=name)
        assert sharded.queues["q"].pop(timeout=10).jid == name


@pytest.mark.parametrize("timeout", [0, 0.3])
@pytest.mark.usefixtures("redis")  # it empties the server
def test_a_shard_that_is_away_keeps_nobody_from_the_jobs_of_the_others(server, timeout):
    away = "redis://127.0.0.1:1"
    with ShardedClient({"here": server.url, "away": away}, pins={"q": "away"}) as client:
        here = client.shards["here"].queues["q"]
        reserver = client.reserver("q")

        here.put("Job", {}, jid="j")
        assert [job.jid for job in client.queues["q"].pop(5, timeout=timeout)] == ["j"]
        here.put("Job", {}, jid="k")
        assert [job.jid for job in client.commands.pop("q", "worker", 5)] == ["k"]
        for pop in (client.queues["q"].pop, reserver.pop):
            with pytest.raises(RedisUnavailable, match="Connection refused"):
                pop(timeout=timeout)


@pytest.fixture
def refusing(server, redis):
    """Make a client of a shard that has jobs, and of others that do nothing for anybody."""
    redis.execute_command("ACL", "SETUSER", "looker", "on", "nopass", "~*", "&*", "+@read")
    redis.set("broken:q:q-work", "no list of jobs")
    with Redis.from_url(server.url, username="looker", password="x") as looker:  # noqa: S106 - any
        shards = {
            "refuses": Client(redis=looker, namespace="refuses:"),
            "here": Client(server.url, namespace="here:"),
            "broken": Client(server.url, namespace="broken:"),
        }
        with ShardedClient(shards) as client:
            yield client
    redis.execute_command("ACL", "DELUSER", "looker")


@pytest.mark.parametrize("timeout", [0, 10])
def test_jobs_that_a_shard_has_given_are_not_lost_where_another_one_refuses(
    refusing, timeout, caplog
):
    """Whichever is asked first."""
    here = refusing.shards["here"].queues["q"]
    pops = [refusing.reserver("q").pop] * 3 + [refusing.queues["q"].pop] * 3
    for pop in pops:
        here.put("Job", {}, jid="j")
        here.put("Job", {}, jid="k")
        assert {job.jid for job in pop(5, timeout=timeout)} == {"j", "k"}
        refusing.shards["here"].bulk.cancel(["j", "k"])
    here.put("Job", {}, jid="j")
    assert [job.jid for job in refusing.commands.pop("q", "worker", 5)] == ["j"]
    assert "the shard refuses gives no jobs: " in caplog.text
    assert "the shard broken gives no jobs: " in caplog.text


def test_a_shard_that_refuses_is_told_at_once_where_there_are_no_jobs(refusing):
    """As waiting does not help."""
    for pop in (refusing.queues["q"].pop, refusing.reserver("q").pop):
        with pytest.raises((NotPermitted, ForeignData)):
            pop(timeout=None)
    with pytest.raises((NotPermitted, ForeignData)):
        refusing.commands.pop("q", "worker", 5)


def test_counts_are_added(sharded, spread):
    put_everywhere(sharded, spread)
    for shard in sharded.shards.values():
        shard.queues["q"].put("Job", {})
        shard.queues["q"].put("Job", {}, delay=60)
    sharded.queues["q"].pop()

    counts = {queue.name: queue for queue in sharded.queues.counts}

    assert set(counts) == {*spread, "q"}
    assert (counts["q"].waiting, counts["q"].scheduled, counts["q"].running) == (2, 3, 1)
    assert sharded.queues["q"].counts == counts["q"]
    assert len(sharded.queues["q"]) == 6
    assert [worker.jobs for worker in sharded.workers.counts] == [1]


def test_statistics_are_those_of_all_jobs(server, clock, sharded):
    """As one server has them that had all of these jobs."""
    a, b, c = sharded.shards.values()
    with Client(server.url, clock=clock, worker_name="worker-1") as alone:
        for client, seconds in [(alone, 1), (alone, 5), (alone, 30), (a, 1), (b, 5), (c, 30)]:
            client.queues["q"].put("Job", {})
            clock.advance(seconds)
            client.queues["q"].pop()
        one, all_ = alone.queues["q"].stats().wait, sharded.queues["q"].stats().wait

    assert (all_.count, all_.histogram) == (3, one.histogram)
    assert all_.mean == pytest.approx(one.mean)
    assert all_.std == pytest.approx(one.std)


def test_lists_page_through_all_shards(sharded):
    for shard in sharded.shards.values():
        for number in range(3):
            jid = shard.queues["q"].put("Job", {}, jid=f"{shard.namespace}{number}", tags=["t"])
            shard.queues["q"].pop().fail("group", "why")
    pages = [sharded.failures.jobs("group", start, 4) for start in (0, 4, 8)]

    assert [page.total for page in pages] == [9, 9, 9]
    assert [len(page.jobs) for page in pages] == [4, 4, 1]
    assert len({job.jid for page in pages for job in page.jobs}) == 9
    assert jid in {job.jid for page in pages for job in page.jobs}
    assert sharded.tags.jids("t", 2, 5).total == 9
    assert sharded.tags() == ["t"]
    assert len([*sharded.jobs.all_failed()]) == len([*sharded.jobs.all_tagged("t")]) == 9


def test_whole_queues_are_walked(sharded, spread):
    put_everywhere(sharded, spread)
    for shard in sharded.shards.values():
        shard.queues["q"].put("Job", {})

    assert len([*sharded.queues["q"].jobs.all()]) == 3
    assert len([*sharded.queues["q"].jobs.all_jids("waiting")]) == 3


def test_groups_are_retried_and_cancelled_on_all_shards(sharded):
    for shard in sharded.shards.values():
        for _ in range(4):
            shard.queues["q"].put("Job", {})
        for job in shard.queues["q"].pop(4):
            job.fail("group", "why")

    assert sharded.failures.unfail("group", "other", 5) == 5
    done = [jid for report in sharded.failures.retry("group") for jid in report.done]

    assert len(done) == 7
    assert sharded.failures.groups == {}
    assert sharded.queues["other"].counts.waiting == 5


def test_options_count_on_all_shards(sharded):
    sharded.config["heartbeat"] = 30

    assert [shard.config["heartbeat"] for shard in sharded.shards.values()] == [30, 30, 30]
    assert sharded.config["heartbeat"] == 30
    del sharded.config["heartbeat"]
    assert {shard.config["heartbeat"] for shard in sharded.shards.values()} == {60}


def test_a_queue_is_paused_on_all_shards(sharded):
    for shard in sharded.shards.values():
        shard.queues["q"].put("Job", {})

    sharded.queues["q"].pause()

    assert sharded.queues["q"].pop(9) == []
    assert sharded.queues["q"].is_paused
    sharded.queues["q"].unpause()
    assert len(sharded.queues["q"].pop(9)) == 3


def test_tracked_jobs_of_all_shards_are_told(sharded, spread):
    jids = put_everywhere(sharded, spread)
    for jid in jids:
        sharded.track(jid)

    with sharded.events.subscribe() as events:
        for queue in spread:
            sharded.queues[queue].pop()
        popped = {event.jid for event in events.drain()}

    assert popped == {*jids}
    assert {job.jid for job in sharded.jobs.tracked().jobs} == {*jids}


def test_recurring_jobs_are_on_the_shard_of_their_queue(sharded, spread):
    jids = [sharded.queues[queue].recur("Job", {}, 60, jid=queue) for queue in spread]

    for jid in jids:
        sharded.jobs[jid].tag("t")
        assert sharded.jobs[jid].tags == ["t"]
    assert [len(sharded.queues[queue].jobs.recurring()) for queue in spread] == [1, 1, 1]
    sharded.jobs[jids[0]].cancel()
    assert sharded.jobs[jids[0]] is None


def test_dependencies_within_a_shard_work(sharded, spread):
    first, last = spread[0], spread[0]
    jid = sharded.queues[first].put("Job", {})
    waits = sharded.queues[last].put("Job", {}, depends=[jid])

    with pytest.raises(HasDependents):
        sharded.jobs[jid].cancel()
    sharded.queues[first].pop().complete()

    assert sharded.jobs[waits].state == "waiting"


def test_dependencies_that_can_be_read_once_are_kept(sharded, spread):
    queue = sharded.queues[spread[0]]
    jid = queue.put("Job", {})

    (waits,) = queue.put_many([("Job", {}, {"depends": iter([jid])})])

    assert sharded.jobs[waits].dependencies == [jid]


@pytest.mark.parametrize("how", ["put", "put_many", "complete", "depend", "move"])
def test_dependencies_across_shards_are_refused_before_anything_is_written(
    sharded, spread, redis, how
):
    here, there = sharded.queues[spread[0]], sharded.queues[spread[1]]
    far, near = there.put("Job", {}, jid="far"), here.put("Job", {}, jid="near", priority=9)
    other = here.put("Job", {}, jid="other")
    held = here.pop()
    waits = here.put("Job", {}, jid="waits", depends=[other])
    calls = {
        "put": lambda: here.put("Job", {}, depends=[far]),
        "put_many": lambda: here.put_many([("Job", {}), ("Job", {}, {"depends": [far]})]),
        "complete": lambda: held.complete(spread[0], depends=[far]),
        "depend": lambda: sharded.jobs[waits].depend(far),
        "move": lambda: sharded.jobs[other].move(spread[0], depends=[far]),
    }
    before = {key: redis.dump(key) for key in redis.scan_iter()}

    with pytest.raises(AcrossShards, match="'far' on 'b:'") as told:
        calls[how]()

    assert (told.value.shard, told.value.other, near) == ("a:", "b:", held.jid)
    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


def test_a_jid_that_is_on_another_shard_is_refused(sharded, spread):
    sharded.queues[spread[0]].put("Job", {}, jid="mine")

    with pytest.raises(AcrossShards, match="'mine' on 'a:'"):
        sharded.queues[spread[1]].put("Job", {}, jid="mine")
    assert sharded.queues[spread[0]].put("Job", {"new": 1}, jid="mine") == "mine"


def test_all_or_none_is_refused_across_shards(sharded, spread):
    jids = put_everywhere(sharded, spread)

    with pytest.raises(AcrossShards, match="all or none"):
        sharded.bulk_cancel(jids)
    assert set(sharded.bulk.cancel(jids).done) == {*jids}
    assert sharded.jobs.get(*jids) == []


def test_a_job_that_went_and_came_back_elsewhere_is_found(sharded, spread):
    sharded.queues[spread[0]].put("Job", {}, jid="mine")
    assert sharded.jobs["mine"].queue_name == spread[0]
    shards = [*sharded.shards.values()]
    shards[0].jobs["mine"].cancel()
    shards[1].queues["q"].put("Job", {}, jid="mine")

    assert sharded.jobs["mine"].queue_name == "q"
    sharded.jobs["mine"].tag("t")
    sharded.jobs["mine"].cancel()
    with pytest.raises(JobNotFound):
        sharded.jobs.get("mine") or sharded.commands.tag("add", "mine", "t")


@pytest.fixture
def moved_away(sharded, spread):
    """Give jobs of which it is remembered that they are on one shard; they are on another now."""
    jids = [sharded.queues[spread[0]].put("Job", {}) for _ in range(3)]
    with ShardedClient(dict(sharded.shards), pins={spread[0]: "b:"}) as other:
        assert other.gather(spread[0]).done == len(jids)
    assert {sharded.whereabouts.recall(jid) for jid in jids} <= {"a:", None}
    sharded.whereabouts.note("a:", jids)
    return jids


def test_jobs_that_another_process_moved_are_read(sharded, moved_away):
    assert [job.jid for job in sharded.jobs.get(*moved_away, "nobody")] == moved_away
    assert sharded.whereabouts.recall(moved_away[0]) == "b:"


def test_jobs_that_another_process_moved_are_worked_on(sharded, spread, moved_away):
    report = sharded.bulk.move([*moved_away, "nobody"], spread[2])

    assert sorted(report.done) == sorted(moved_away)
    assert dict(report.left) == {"nobody": "gone"}
    sharded.whereabouts.note("a:", moved_away)
    assert sharded.commands.bulk_closure(*moved_away, "nobody").missing == ("nobody",)
    sharded.whereabouts.note("a:", moved_away)
    held = sharded.shards["b:"].queues[spread[2]].pop()
    sharded.commands.timeout(held.jid)
    sharded.whereabouts.note("a:", moved_away)
    assert sorted(sharded.commands.cancel(*moved_away)) == sorted(moved_away)


def test_what_answers_nothing_when_all_went_well_is_sent_once(sharded, spread, redis):
    (jid,) = put_everywhere(sharded, spread[:1])
    sharded.queues[spread[0]].pop()
    recurring = sharded.queues[spread[1]].recur("Job", {}, 60)
    redis.config_resetstat()

    sharded.commands.log(jid, "hello", "{}")
    sharded.commands.progress(jid, "worker-1", 1)
    sharded.commands.recur_update(recurring, priority=3)

    assert sent(redis) == 3
    assert [each.what for each in sharded.jobs[jid].history] == ["put", "popped", "hello"]


def test_what_says_in_its_answer_that_nothing_is_there_is_asked_elsewhere(
    sharded, spread, moved_away
):
    """As it refuses nothing: the whereabouts of these jobs are those of before they were moved."""
    jid, other, waits = moved_away
    near = sharded.queues[spread[1]].put("Job", {}, jid="near")

    assert sharded.commands.edit(jid, "data", '{"new":1}').done == (jid,)
    assert sharded.commands.edit("nobody", "data", "{}").left == {"nobody": "gone"}
    sharded.commands.requeue("me", spread[1], waits, "Job", "{}", 0, depends=[near])
    for switch, jids in (("on", [other]), ("off", ["all"])):
        sharded.whereabouts.note("a:", [waits])
        assert sharded.commands.depends(waits, switch, *jids) == 1


def test_a_recurring_job_is_ended_where_it_is(sharded, spread):
    jid = sharded.queues[spread[1]].recur("Job", {}, 60)
    sharded.whereabouts.note("a:", [jid])

    sharded.commands.unrecur(jid)
    sharded.commands.unrecur("nobody")

    assert sharded.commands.recur_get(jid) is None


def test_dependencies_that_another_process_moved_are_seen_where_they_are(
    sharded, spread, moved_away
):
    with pytest.raises(AcrossShards):
        sharded.queues[spread[0]].put("Job", {}, depends=moved_away)

    sharded.whereabouts.note("a:", moved_away)
    jid = sharded.queues[spread[1]].put("Job", {}, depends=moved_away)

    assert sharded.jobs[jid].state == "depends"


def test_what_is_of_one_shard_says_so(sharded):
    for call in (sharded.audit, lambda: sharded.archive("x"), lambda: sharded.once("x")):
        with pytest.raises(BadArgument, match=r"client\.shards\[name\]"):
            call()
    with pytest.raises(AttributeError, match=r"client\.shards\[name\]\.redis"):
        sharded.redis.ping()


def test_shards_must_be_some_and_different(server):
    with pytest.raises(BadArgument, match="several shards are wanted"):
        ShardedClient(server.url)
    with pytest.raises(BadArgument, match="must be some"):
        ShardedClient([])
    with pytest.raises(BadArgument, match="no two the same"):
        ShardedClient({"a": server.url, "b": server.url})
    with pytest.raises(BadArgument, match="or names"):
        ShardedClient([server.url, server.url])


def test_addresses_will_do_and_name_their_shards(server):
    url = server.url + "?namespace={}:"
    client = ShardedClient([url.format("one"), url.format("two")], pins={"mail": "two:"})

    assert [*client.shards] == ["one:", "two:"]
    assert client.queues["mail"].shard == "two:"
