from __future__ import annotations

from functools import partial

import pytest

from qless_core import wire
from qless_core.errors import BadArgument, JobNotRunning
from qless_core.job import State

AWKWARD = ["default", "a/b", "..", "ü ~2F", "q?x#y", "<b>", "a\nb", " ", "🙂"]


class Outer:
    class Inner:
        @staticmethod
        def process(job): ...


def a_function(job): ...


@pytest.fixture
def queue(client):
    return client.queues["q"]


def test_a_job_is_put_and_popped(client, queue):
    """Q3."""
    jid = queue.put("app.Mail", {"to": "a@b"}, priority=3, tags=["x", "y"], retries=7)

    job = queue.pop()

    assert job.jid == jid
    assert (job.klass_name, job.data, job.priority, job.tags) == (
        "app.Mail",
        {"to": "a@b"},
        3,
        ["x", "y"],
    )
    assert (job.original_retries, job.retries_left) == (7, 7)
    assert (job.state, job.worker_name, job.queue_name) == ("running", "worker-1", "q")
    assert job.expires_at == client.now() + 60
    assert job.ttl == 60


def test_an_empty_queue_gives_none_or_an_empty_list(queue):
    assert queue.pop() is None
    assert queue.pop(5) == []
    assert queue.peek() is None
    assert queue.peek(5) == []


def test_many_are_popped_at_once_higher_priorities_first(queue):
    for priority in (1, 3, 2):
        queue.put("Job", {}, jid=f"p{priority}", priority=priority)

    assert [job.jid for job in queue.peek(2)] == ["p3", "p2"]
    assert [job.jid for job in queue.pop(5)] == ["p3", "p2", "p1"]


def test_equal_priorities_come_first_in_first_out(queue, clock):
    """Q5."""
    for name in ("z", "a", "m"):
        queue.put("Job", {}, jid=name)
        clock.advance(1)

    assert [queue.pop().jid for _ in range(3)] == ["z", "a", "m"]


@pytest.mark.parametrize(
    ("klass", "name"),
    [
        (Outer, f"{__name__}.Outer"),
        (Outer.Inner, f"{__name__}.Outer.Inner"),
        (a_function, f"{__name__}.a_function"),
        ("Ruby::Mail", "Ruby::Mail"),
    ],
)
def test_a_class_may_be_given_as_an_object_or_by_name(queue, klass, name):
    queue.put(klass, {})

    assert queue.pop().klass_name == name


def test_what_no_worker_could_import_is_refused(client, queue, redis):
    class Local: ...

    recurring = client.jobs[queue.recur("::Ruby::Mail", {}, 60)]
    before = redis.dump(f"ql:r:{recurring.jid}")

    for klass in (
        Local,
        lambda job: job,
        5,
        "",
        None,
        ".evil",
        "::",
        "..",
        "a.",
        "a..b",
        " ",
    ):
        for put in (
            queue.put,
            partial(queue.recur, interval=60),
            partial(queue.cron, expression="@daily"),
        ):
            with pytest.raises(BadArgument):
                put(klass, {})
    for name in ("", ".evil", " "):
        with pytest.raises(BadArgument, match="name of a class"):
            recurring.klass_name = name

    assert redis.dump(f"ql:r:{recurring.jid}") == before
    assert len(queue) == 0


@pytest.mark.parametrize(
    "given", [{"jid": "\udcff"}, {"tags": ["a", "\udcff"]}, {"throttles": ["\udcff"]}]
)
def test_no_new_name_is_of_bytes_that_are_no_text(queue, redis, given):
    for put in (
        queue.put,
        partial(queue.recur, interval=60),
        partial(queue.cron, expression="@daily"),
    ):
        with pytest.raises(BadArgument, match=r"UTF-8|surrogate"):
            put("Job", {}, **given)
    with pytest.raises(BadArgument, match="UTF-8"):
        queue.put("Job\udcff", {})

    assert redis.keys() == []


@pytest.mark.parametrize("data", [float("nan"), [float("inf")], {"x": -float("inf")}])
def test_b18_numbers_that_json_lacks_are_refused_before_anything_is_sent(queue, redis, data):
    with pytest.raises(BadArgument, match="JSON"):
        queue.put("Job", data)

    assert redis.keys() == []


@pytest.mark.parametrize("data", [{"s": "\ud800"}, "\udcff", {"\ud800": 1}])
def test_b12_lone_surrogates_are_refused_before_anything_is_sent(queue, redis, data):
    with pytest.raises(BadArgument, match="surrogate"):
        queue.put("Job", data)

    assert redis.keys() == []


@pytest.mark.parametrize(
    "data", [None, "s", 5, [], True, False, "", 1.5, {}, [[[]]], {"l": [], "o": {}}]
)
def test_b17_data_may_be_any_json(queue, data):
    queue.put("Job", data)

    job = queue.pop()
    assert job.data == data
    assert job.complete() == "complete"


def test_b17_data_may_be_a_thousand_deep_and_deeper_is_refused(client, queue, redis):
    deep = []
    for _ in range(999):
        deep = [deep]
    jid = queue.put("Job", deep)
    assert client.jobs[jid].raw_data == "[" * 1000 + "]" * 1000
    assert wire.dumps(client.jobs[jid].data) == client.jobs[jid].raw_data
    assert queue.pop().complete() == "complete"

    redis.flushall()
    with pytest.raises(BadArgument):
        queue.put("Job", [deep])
    assert redis.keys() == []


@pytest.mark.parametrize(
    "options",
    [
        {"priority": float("nan")},
        {"priority": "high"},
        {"delay": float("inf")},
        {"retries": 1.5},
        {"tags": "one"},
        {"tags": [1]},
        {"depends": "jid"},
        {"jid": ""},
    ],
)
def test_senseless_options_are_refused_and_nothing_is_written(queue, redis, options):
    with pytest.raises(BadArgument):
        queue.put("Job", {}, **options)

    assert redis.keys() == []


@pytest.mark.parametrize("name", AWKWARD)
def test_names_of_any_kind_work(client, name):
    queue = client.queues[name]

    klass = f"app.{name.strip('. ')}Mail"
    jid = queue.put(klass, {name: name}, jid=name, tags=[name])

    assert jid == name
    assert queue.peek().jid == name
    assert queue.counts.name == name
    job = queue.pop()
    # A blank is no tag.
    assert (job.klass_name, job.data, job.tags) == (
        klass,
        {name: name},
        [name] * bool(name.strip()),
    )
    job.fail(name, name)
    assert client.failures.groups == {name: 1}
    assert client.jobs.failed(name).jobs[0].failure.message == name


def test_a_delayed_job_is_scheduled_until_it_is_due(client, queue, clock):
    """Q6."""
    jid = queue.put("Job", {}, delay=10)
    assert queue.pop() is None
    assert queue.jobs.scheduled() == [jid]
    assert client.jobs[jid].state is State.SCHEDULED

    clock.advance(10)

    assert queue.pop().jid == jid


def test_jobs_are_listed_by_state(client, queue, clock):
    queue.put("Job", {}, jid="late")
    queue.pop()
    clock.advance(70)
    queue.put("Job", {}, jid="running", priority=1)
    client.config["grace-period"] = 1000
    queue.put("Job", {}, jid="waiting")
    queue.put("Job", {}, jid="depends", depends=["waiting"])
    queue.put("Job", {}, jid="scheduled", delay=5)
    queue.recur("Job", {}, 60, offset=60, jid="recurring")

    assert queue.jobs.stalled() == ["late"]
    assert queue.jobs.depends() == ["depends"]
    assert queue.jobs.scheduled() == ["scheduled"]
    assert queue.jobs.recurring() == ["recurring"]
    assert queue.pop().jid == "running"
    assert queue.jobs.running() == ["running", "late"]
    assert queue.counts.waiting == 1
    assert (queue.counts.scheduled, queue.counts.depends, queue.counts.recurring) == (1, 1, 1)
    assert len(queue) == 4


def test_a_paused_queue_gives_nothing(client, queue):
    queue.put("Job", {})
    queue.pause()

    assert queue.is_paused
    assert queue.pop() is None
    assert client.queues.counts[0].paused

    queue.unpause()
    assert not queue.is_paused
    assert queue.pop() is not None


def test_a_forgotten_queue_is_not_listed(client, queue):
    queue.put("Job", {}, jid="a")
    client.bulk_cancel(["a"])
    assert [counts.name for counts in client.queues.counts] == ["q"]

    queue.forget()

    assert client.queues.counts == []


def test_the_heartbeat_of_a_queue_is_a_property(queue):
    assert queue.heartbeat == 60

    queue.heartbeat = 300
    queue.put("Job", {})

    assert queue.heartbeat == 300
    assert queue.pop().ttl == 300
    del queue.heartbeat
    assert queue.heartbeat == 60


def test_an_empty_queue_is_still_a_queue(queue):
    assert len(queue) == 0
    assert queue


def test_a_dependent_waits_for_a_job_or_its_jid(client, queue):
    first = queue.put("Job", {})
    job = client.jobs[first]
    second = queue.put("Job", {}, depends=[job])

    assert client.jobs[second].dependencies == [first]
    assert client.jobs[first].dependents == [second]
    queue.pop().complete()
    assert queue.pop().jid == second


def test_b50_a_job_cannot_depend_on_itself_or_in_a_ring(queue, redis):
    with pytest.raises(BadArgument):
        queue.put("Job", {}, jid="a", depends=["a"])
    assert redis.keys() == []

    queue.put("Job", {}, jid="base")
    queue.put("Job", {}, jid="a", depends=["base"])
    queue.put("Job", {}, jid="b", depends=["a"])
    with pytest.raises(BadArgument, match="a"):
        queue.put("Job", {}, jid="a", depends=["b"])


def test_b50_other_dependencies_replace_those_that_were_there(client, queue):
    queue.put("Job", {}, jid="one")
    queue.put("Job", {}, jid="two")
    queue.put("Job", {}, jid="a", depends=["one"])

    queue.put("Job", {}, jid="a", depends=["two"])

    assert client.jobs["a"].dependencies == ["two"]
    assert client.jobs["one"].dependents == []


def test_putting_a_running_job_again_takes_it_from_its_worker(client, queue):
    queue.put("Job", {}, jid="a")
    job = queue.pop()

    queue.put("Job", {"new": True}, jid="a")

    with pytest.raises(JobNotRunning):
        job.complete()
    assert client.jobs["a"].data == {"new": True}


def test_pausing_may_stop_the_jobs_that_run(client, queue, clock):
    """Q13."""
    queue.put_many([("Job", {}, {"jid": f"j{number}"}) for number in range(4)])
    late, done, *others = queue.pop(4)
    clock.advance(61)
    for job in (done, *others):
        job.heartbeat()
    done.complete()

    assert queue.pause(stop_jobs=True) == 3

    assert queue.is_paused
    assert queue.jobs.running() == queue.jobs.stalled() == []
    with pytest.raises(JobNotRunning):
        late.complete()
    client.queues["other"].put("Job", {}, jid="runs")
    client.queues["other"].pop()
    assert client.queues["other"].pause() == 0
    assert client.jobs["runs"].state == "running"


def test_the_limit_of_running_jobs_is_a_property(queue):
    """Q15."""
    assert queue.max_concurrency == 0

    queue.max_concurrency = 1

    queue.put("Job", {})
    queue.put("Job", {})
    assert (queue.max_concurrency, len(queue.pop(5))) == (1, 1)
    with pytest.raises(BadArgument):
        queue.max_concurrency = -1


@pytest.mark.parametrize("count", [-1, 1.5, float("nan"), "many"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda client, count: client.queues["q"].jobs.running(0, count),
        lambda client, count: client.queues["q"].jobs.scheduled(count),
        lambda client, count: client.jobs.complete(0, count),
        lambda client, count: client.failures.jobs("g", 0, count),
        lambda client, count: client.tags.jids("t", 0, count),
    ],
)
def test_q16_a_senseless_count_is_refused_and_said(client, ask, count):
    with pytest.raises(BadArgument, match=r"-1|1\.5|nan|many"):
        ask(client, count)
