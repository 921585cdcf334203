"""The machine: commands at random; answers, messages and traces are compared with the model's."""

from __future__ import annotations

import json
import math

from driver import Driver
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from invariants import broken
from queue_model import BUCKETS, DAY, Model, Refused

#: Names that lie near one another, or near the ends that keys have.
JIDS = ("a", "b", "c", "d/e", "ü:1", "a-history", "b-dependents", "r-2")
RECURRING = ("r", "ü t")
QUEUES = ("q", "ü: q", "q-work")
WORKERS = ("w", "v:jobs")
GROUPS = ("g", "ü/g", "failed-retries-q")
TAGS = ("x", "ü tag", "x:y-history", " ")
DATA = ("{}", '{"a":[],"n":12345678901234567}', "[]", '"ü\\/"')
STATES = ("", "failed", "waiting,running", "stalled,complete", "depends,scheduled")
#: 100 seconds before a midnight.
BEGIN = 1_700_006_300

#: What is set at times, and some of what it is set to.
CONFIG = {
    "heartbeat": ("30", "0", "-5", "abc", ""),
    "q-heartbeat": ("100", "1e400", "x"),
    "grace-period": ("0", "-1", "5.5", "abc"),
    "q-max-concurrency": ("1", "2.5", "0", "-1", "many"),
    "jobs-history": ("60", "0", "abc", "-1"),
    "jobs-history-count": ("1", "2", "0", "-3", ""),
    "max-job-history": ("1", "3", "0", "abc"),
    "max-worker-age": ("20", "abc"),
}

#: Arguments that make a command be refused, for each option of put.
BAD = {
    "priority": ("abc", "", "nan"),
    "retries": ("1.5", "x"),
    "tags": ("{", '["x",null]', "5"),
    "depends": ('{"a":1}', "null"),
}

jid = st.sampled_from(JIDS)
any_jid = st.sampled_from((*JIDS, *JIDS, "r-1", "r-3", "ü t-1"))
jids = st.lists(any_jid, min_size=1, max_size=4)
queue = st.sampled_from((*QUEUES[:1] * 3, *QUEUES))
worker = st.sampled_from(WORKERS)
group = st.sampled_from(GROUPS)
tags = st.lists(st.sampled_from(TAGS), min_size=1, max_size=3)
data = st.sampled_from(DATA)
count = st.integers(1, 3)
pick = st.integers(0, 5)
delay = st.sampled_from((0, 0, 0, 10, 61, 0.5, -5, "x"))
priority = st.sampled_from((0, 1, 5, -3, 0.5))
#: Who says to run a job: its worker for the most part.
claim = st.sampled_from(("own",) * 8 + ("other worker", "other queue"))


def options(**values):
    """Make pairs of option and value, some of the options, some of the values bad."""

    def pair(name):
        good = values[name]
        odd = st.sampled_from(BAD.get(name, ("abc",)))
        return st.tuples(st.just(name), st.integers(0, 14).flatmap(lambda n: good if n else odd))

    names = st.lists(st.sampled_from(sorted(values)), max_size=2, unique=True)
    return names.flatmap(lambda chosen: st.tuples(*map(pair, chosen))).map(
        lambda chosen: [word for found in chosen for word in found]
    )


put_options = options(
    priority=priority,
    retries=st.integers(0, 2),
    tags=st.lists(st.sampled_from(TAGS), max_size=2).map(json.dumps),
    depends=st.lists(any_jid, max_size=2).map(json.dumps),
)
advance_options = options(
    delay=st.sampled_from((0, 10, 61)), depends=st.lists(any_jid, max_size=2).map(json.dumps)
)
recur_options = options(
    priority=priority,
    retries=st.integers(0, 2),
    tags=st.lists(st.sampled_from(TAGS), max_size=2).map(json.dumps),
    backlog=st.integers(0, 3),
    **{"keep-next-run": st.just(1)},
)
updates = options(
    priority=priority,
    interval=st.sampled_from((1, 10, 0.25, 60)),
    retries=st.integers(0, 2),
    backlog=st.integers(0, 3),
    data=data,
    klass=st.just("L"),
    queue=queue,
)


#: In the checks always the same examples, so that they fail or pass for everybody.
CHECKED = settings(
    stateful_step_count=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def run(machine, redis, script, examples, **more):
    """Run a machine on a server; the profile `long` brings its own number of examples."""

    class Machine(machine):
        pass

    Machine.redis, Machine.script = redis, script
    wanted = settings(CHECKED, max_examples=examples, **more)
    if settings.get_current_profile_name() == "long":
        wanted = settings.default
    run_state_machine_as_test(Machine, settings=wanted)


class QueueMachine(RuleBasedStateMachine):
    """Every rule is one command at the moment that the machine is at."""

    #: Set by the tests: the server, and the script on it.
    redis = None
    script = None

    def __init__(self):
        super().__init__()
        self.redis.flushdb()
        self.driver = Driver(self.redis, self.script)
        self.model = Model()
        self.now = BEGIN
        self.asked = 0
        #: What the last call answered, and all that was stored then.
        self.heard, self.found = None, {}

    def teardown(self):
        self.driver.close()

    # One step.

    def moment(self, *arguments):  # noqa: ARG002 - other machines ask who calls
        """Tell the time of the client that calls."""
        return self.now

    def step(self, command, *arguments):
        """Call the script and the model, and compare all there is; answers the refusal, if any."""
        now = self.moment(*arguments)
        answer = self.heard = self.driver.call(command, now, *arguments)
        call = f"{command} {now} {arguments}"
        expected, refused = None, None
        try:
            expected = self.model.call(command, now, *arguments)
        except Refused as refusal:
            refused = refusal
        if refused or answer.refusal:
            assert bool(refused) == bool(answer.refusal), f"{call}: {answer.refusal}, not {refused}"
            code, sentence = answer.refusal
            assert code == refused.code, call
            # Of several bad arguments either may be named.
            assert refused.phrase in sentence or code == "BAD_ARGUMENT", call
        assert same(read_reply(answer.reply, expected), expected), (
            f"{call}\nanswers  {answer.reply!r}\nnot      {expected!r}"
        )
        assert answer.events == self.model.events, call
        self.compare(now, call)
        return answer.refusal

    def compare(self, now, call):
        """Compare what is counted, listed and stored."""
        questions = list(self.questions(now))
        replies, stored = self.driver.ask(questions)
        self.found = stored
        assert list(broken(stored)) == [], call
        self.adopt(stored, now)
        ours, theirs = self.without_old(stored), self.without_old(self.model.stored())
        for key in ours.keys() | theirs.keys():
            assert same(ours.get(key), theirs.get(key)), (
                f"{call}\n{key} holds {ours.get(key)!r}\nnot {theirs.get(key)!r}"
            )
        for question, reply in zip(questions, replies, strict=True):
            expected = self.model.call(*question)
            assert same(read_reply(reply, expected), expected), (
                f"{call}, then {question}\nanswers  {reply!r}\nnot      {expected!r}"
            )

    def questions(self, now):
        """List what is asked after each step: what concerns all, and one queue by turns."""
        yield from ((name, now) for name in ("queues", "failed", "track", "workers", "config.get"))
        yield "tag", now, "top", 0, 10
        yield "jobs", now, "complete"
        yield "multiget", now, "no such job", *self.model.jobs
        self.asked = (self.asked + 1) % len(QUEUES)
        name = QUEUES[self.asked]
        yield "length", now, name
        yield "peek", now, name, 3
        yield "stats", now, name, now
        for state in ("running", "stalled", "scheduled", "depends", "recurring"):
            yield "jobs", now, state, name, 0, 5

    def adopt(self, stored, now):
        """Take over what is not told: last digits of a score, when workers are forgotten."""
        for worker in self.model.workers.keys() - stored.get("ql:workers", {}).keys():
            self.model.forget_worker(worker, now)
        for jid, job in self.model.jobs.items():
            found = stored.get(f"ql:q:{job.queue}-work", {}).get(jid, math.inf)
            if abs(found - job.score) < 4e-15:
                job.score = found

    def without_old(self, stored):
        """Leave out figures that may be cleared, after 30 days all: when they are is not told."""
        today = self.model.day(self.latest())
        kept = {}
        for key, value in stored.items():
            age = (today - int(key.split(":")[3])) / DAY if key.startswith("ql:s:") else 0
            if 7 < age <= 30:
                kept[key] = {name: value[name] for name in value if name not in BUCKETS}
            elif age <= 30:
                kept[key] = value
        return kept

    def latest(self):
        return self.now

    # Which job.

    def in_state(self, *states):
        return sorted(jid for jid, job in self.model.jobs.items() if job.state in states)

    def claimed(self, pick, claim):
        """Choose a running job; answers it, and who says to run it where."""
        running = self.in_state("running")
        job = self.model.jobs[running[pick % len(running)]]
        worker, queue = job.worker, job.queue
        if claim == "other worker":
            worker = WORKERS[worker == WORKERS[0]]
        elif claim == "other queue":
            queue = QUEUES[queue == QUEUES[0]]
        return job.jid, worker, queue

    def some_run(self):
        return bool(self.in_state("running"))

    def some_failed(self):
        return bool(self.in_state("failed"))

    # Time.

    @rule(seconds=st.sampled_from((0.25, 1, 11, 30, 61, 61, 300)))
    def a_while_passes(self, seconds):
        self.now += seconds
        self.compare(self.moment(), f"{seconds} s later")

    @rule(days=st.sampled_from((1, 1, 2, 8)))
    def days_pass(self, days):
        self.now += days * DAY
        self.compare(self.moment(), f"{days} days later")

    # Jobs come and go.

    @rule(me=worker, queue=queue, jid=jid, data=data, priority=priority)
    def put_now(self, me, queue, jid, data, priority):
        self.step("put", me, queue, jid, "K", data, 0, "priority", priority)

    @rule(me=worker, queue=queue, jid=any_jid, data=data, delay=delay, words=put_options)
    def put(self, me, queue, jid, data, delay, words):
        self.step("put", me, queue, jid, "app.Mail", data, delay, *words)

    @rule(me=worker, queue=queue, jid=any_jid, data=data, delay=delay, words=put_options)
    def requeue(self, me, queue, jid, data, delay, words):
        self.step("requeue", me, queue, jid, "app.Mail", data, delay, *words)

    @rule(queue=queue, worker=worker, count=count)
    def pop(self, queue, worker, count):
        self.step("pop", queue, worker, count)

    @rule(queue=queue, worker=worker, count=count, late=st.sampled_from((0, 61, 11, 0.25)))
    def pop_later(self, queue, worker, count, late):
        self.now += late
        self.step("pop", queue, worker, count)

    @rule(jids=jids)
    def cancel(self, jids):
        self.step("cancel", *jids)

    @rule(jid=any_jid, priority=priority)
    def change_priority(self, jid, priority):
        self.step("priority", jid, priority)

    @rule(jid=any_jid, data=st.sampled_from(((), (), ('{"by":"me"}',), ("[1]",))))
    def log(self, jid, data):
        self.step("log", jid, "was here", *data)

    # Workers.

    @precondition(some_run)
    @rule(pick=pick, claim=claim, data=st.sampled_from(((), (), *((text,) for text in DATA))))
    def heartbeat(self, pick, claim, data):
        jid, worker, _ = self.claimed(pick, claim)
        self.step("heartbeat", jid, worker, *data)

    @precondition(some_run)
    @rule(pick=pick, claim=claim, data=data)
    def complete(self, pick, claim, data):
        self.step("complete", *self.claimed(pick, claim), data)

    @precondition(some_run)
    @rule(pick=pick, claim=claim, data=data, queue=queue, words=advance_options)
    def advance(self, pick, claim, data, queue, words):
        self.step("complete", *self.claimed(pick, claim), data, "next", queue, *words)

    @precondition(some_run)
    @rule(pick=pick, claim=claim, group=group, data=st.sampled_from(((), ("[]",), ("{",))))
    def fail(self, pick, claim, group, data):
        jid, worker, _ = self.claimed(pick, claim)
        self.step("fail", jid, worker, group, "it broke\nin line ü", *data)

    @precondition(some_run)
    @rule(
        pick=pick,
        claim=claim,
        delay=delay,
        words=st.sampled_from(((), (), ("g",), ("ü/g", "why"), ("g", ""))),
    )
    def retry(self, pick, claim, delay, words):
        jid, worker, queue = self.claimed(pick, claim)
        self.step("retry", jid, queue, worker, delay, *words)

    @precondition(some_run)
    @rule(pick=pick, others=st.lists(any_jid, max_size=1))
    def timeout(self, pick, others):
        running = self.in_state("running")
        self.step("timeout", *running[: pick % 3 + 1], *others)

    @rule(jid=any_jid, worker=worker, queue=queue, which=pick)
    def act_on_any_job(self, jid, worker, queue, which):
        calls = (
            ("heartbeat", jid, worker),
            ("complete", jid, worker, queue, "{}"),
            ("fail", jid, worker, "g", "m"),
            ("retry", jid, queue, worker),
            ("timeout", jid),
            ("get", jid),
        )
        self.step(*calls[which])

    @rule(workers=st.lists(worker, min_size=1, max_size=2))
    def deregister(self, workers):
        self.step("worker.deregister", *workers)

    @rule(worker=worker)
    def look_at_a_worker(self, worker):
        self.step("workers", worker)

    # Failures and bulk work.

    @precondition(some_failed)
    @rule(queue=queue, group=group, count=st.sampled_from((1, 2, 25, 0)))
    def unfail(self, queue, group, count):
        self.step("unfail", queue, group, count)

    @rule(group=group, start=st.integers(0, 2), limit=st.integers(0, 3))
    def look_at_a_group(self, group, start, limit):
        self.step("failed", group, start, limit)

    @rule(
        command=st.sampled_from(("bulk.move", "bulk.cancel")),
        group=st.sampled_from(("", "", *GROUPS)),
        queue=st.sampled_from(("", *QUEUES)),
        jobs=st.lists(st.tuples(any_jid, st.sampled_from(STATES)), min_size=1, max_size=4),
    )
    def bulk(self, command, group, queue, jobs):
        words = [word for pair in jobs for word in pair]
        to = (queue,) if command == "bulk.move" else ()
        self.step(command, group, *to, *words)

    # Marks.

    @rule(jid=any_jid, switch=st.sampled_from(("on", "on", "off", "maybe")), jids=jids)
    def depend(self, jid, switch, jids):
        self.step("depends", jid, switch, *jids)

    @precondition(lambda self: bool(self.in_state("depends")))
    @rule(pick=pick, whom=st.sampled_from(("all", "first", "first")))
    def undepend(self, pick, whom):
        waiting = self.in_state("depends")
        job = self.model.jobs[waiting[pick % len(waiting)]]
        self.step("depends", job.jid, "off", "all" if whom == "all" else min(job.waits_for))

    @rule(action=st.sampled_from(("add", "remove")), jid=any_jid, tags=tags)
    def tag(self, action, jid, tags):
        self.step("tag", action, jid, *tags)

    @rule(tag=st.sampled_from(TAGS), offset=st.integers(0, 1), count=count)
    def look_at_a_tag(self, tag, offset, count):
        self.step("tag", "get", tag, offset, count)

    @rule(action=st.sampled_from(("track", "track", "untrack")), jid=any_jid)
    def track(self, action, jid):
        self.step("track", action, jid)

    # Recurring jobs.

    @rule(
        queue=queue,
        jid=st.sampled_from((*RECURRING, *RECURRING, "b-dependents")),
        interval=st.sampled_from((10, 1, 60, 0.25, 0)),
        offset=st.sampled_from((0, 0, 5, 0.5, -20)),
        words=recur_options,
    )
    def recur(self, queue, jid, interval, offset, words):
        self.step("recur", queue, jid, "K", "{}", "interval", interval, offset, *words)

    @rule(jid=st.sampled_from(RECURRING), words=updates)
    def update_recurring(self, jid, words):
        self.step("recur.update", jid, *words)

    @rule(
        command=st.sampled_from(("recur.tag", "recur.untag", "recur.get")),
        jid=st.sampled_from(RECURRING),
        tags=tags,
    )
    def look_at_or_tag_recurring(self, command, jid, tags):
        self.step(command, jid, *(() if command == "recur.get" else tags))

    @rule(jid=st.sampled_from(RECURRING))
    def unrecur(self, jid):
        self.step("unrecur", jid)

    # Queues and options.

    @rule(command=st.sampled_from(("pause", "unpause", "unpause", "queue.forget")), queue=queue)
    def pause_or_forget(self, command, queue):
        self.step(command, queue)

    @rule(
        setting=st.sampled_from(
            [(name, value) for name, values in CONFIG.items() for value in values]
        )
    )
    def set_option(self, setting):
        self.step("config.set", *setting)

    @rule(name=st.sampled_from(sorted(CONFIG)))
    def unset_option(self, name):
        self.step("config.unset", name)

    @precondition(lambda self: bool(self.model.config))
    @rule()
    def unset_all_options(self):
        for name in sorted(self.model.config):
            self.step("config.unset", name)


def read_reply(reply, expected):
    """Read a reply as JSON where JSON is due; sets of jids sorted, as theirs is no order."""
    if not isinstance(reply, str) or not isinstance(expected, dict | list):
        return reply
    return in_order(json.loads(reply))


def in_order(value):
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: sorted(item) if name in ("dependents", "dependencies", "emptied") else in_order(item)
        for name, item in value.items()
    }


def same(ours, theirs):
    """Compare values; numbers to as many digits as the replies have."""
    if isinstance(ours, list) and ours == theirs:
        return True
    if isinstance(ours, dict | list):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and same_items(ours, theirs)
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=1e-12)
    return ours == theirs


def same_items(ours, theirs):
    if isinstance(ours, list):
        return all(map(same, ours, theirs))
    return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
