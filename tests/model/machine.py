"""The machine: commands at random; answers, messages and traces are compared with the model's."""

from __future__ import annotations

import json
import math
import re

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.model.driver import Driver
from tests.model.invariants import broken
from tests.model.queue_model import DAY, Model, Refused

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

#: A bar of a histogram.
BAR = re.compile(r"[smhd]\d+")

#: What is set at times, and some of what it is set to.
CONFIG = {
    "heartbeat": ("30", "0", "-5", "abc", ""),
    "q-heartbeat": ("100", "1e400", "x"),
    "grace-period": ("0", "-1", "5.5", "abc"),
    "q-max-concurrency": ("1", "1.5", "2.5", "0", "-1", "many"),
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
    "depends": ('{"a":1}', "null", '["a-history","b-dependents"]'),
}

#: Names to try, whether or not there is such a job.
SOME_JIDS = (*JIDS, "r-1", "r-3", "ü t-1", "c-history")

#: Numbers below choose among the jobs that are there.
MOSTLY = 30

jid = st.sampled_from(JIDS)
#: Which job: a number that `one` makes a jid of.
number = st.integers(0, 34)
numbers = st.lists(number, min_size=1, max_size=3)
queue = st.sampled_from((*QUEUES[:1] * 3, *QUEUES))
worker = st.sampled_from(WORKERS)
group = st.sampled_from(GROUPS)
tags = st.lists(st.sampled_from(TAGS), min_size=1, max_size=3)
data = st.sampled_from(DATA)
count = st.integers(1, 3)
pick = st.integers(0, 5)
delay = st.sampled_from((0, 0, 0, 10, 61, 0.5, -5, "x"))
priority = st.sampled_from((0, 1, 5, -3, 0.5))
setting = st.sampled_from([(name, value) for name, values in CONFIG.items() for value in values])
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
    depends=st.lists(number, max_size=2).map(tuple),
)
advance_options = options(
    delay=st.sampled_from((0, 10, 61)), depends=st.lists(number, max_size=2).map(tuple)
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
    stateful_step_count=60,
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
                kept[key] = {name: value[name] for name in value if not BAR.fullmatch(name)}
            elif age <= 30:
                kept[key] = value
        return kept

    def latest(self):
        return self.now

    # Which job.

    def one(self, number):
        """Choose a jid: mostly that of a job that is there."""
        there = sorted(self.model.jobs)
        names = there if there and number < MOSTLY else SOME_JIDS
        return names[number % len(names)]

    def several(self, numbers):
        return [self.one(number) for number in numbers]

    def pairs(self, words):
        """Choose the jids that options have."""
        return [self.depends(word) if isinstance(word, tuple) else word for word in words]

    def depends(self, numbers):
        return json.dumps(self.several(numbers), ensure_ascii=False)

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

    def some_jobs(self):
        return bool(self.model.jobs)

    def some_run(self):
        return bool(self.in_state("running"))

    def some_wait_for_others(self):
        return bool(self.in_state("depends"))

    def some_failed(self):
        return bool(self.in_state("failed"))

    def some_recur(self):
        return bool(self.model.recurring)

    # Time.

    @rule(seconds=st.sampled_from((0.25, 1, 11, 30, 61, 300, DAY)))
    def time_passes(self, seconds):
        self.now += seconds
        self.compare(self.moment(), f"{seconds} s later")

    @rule(days=st.sampled_from((1, 2, 8)))
    def days_pass(self, days):
        self.now += days * DAY
        self.compare(self.moment(), f"{days} days later")

    # Jobs come and go.

    @initialize(
        jobs=st.lists(
            st.tuples(jid, queue, priority, st.sampled_from((0, 0, 10)), put_options),
            min_size=3,
            max_size=6,
        ),
        tracked=st.lists(number, max_size=2),
        popped=st.lists(st.tuples(queue, worker), max_size=2),
        options=st.lists(setting, max_size=3),
    )
    def begin(self, jobs, tracked, popped, options):
        for option in options:
            self.step("config.set", *option)
        for jid, queue, priority, delay, words in jobs:
            first = ("put", "w", queue, jid, "K", "{}", delay, "priority", priority)
            self.step(*first, *self.pairs(words))
        for number in tracked:
            self.step("track", "track", self.one(number))
        for queue, worker in popped:
            self.step("pop", queue, worker, 2)

    @rule(me=worker, queue=queue, jid=jid, data=data, priority=priority)
    def put_now(self, me, queue, jid, data, priority):
        self.step("put", me, queue, jid, "K", data, 0, "priority", priority)

    @rule(number=number, queue=queue, me=worker, delay=delay, words=put_options)
    def put(self, number, queue, me, delay, words):
        words = self.pairs(words)
        command = ("put", "put", "requeue")[number % 3]
        data = DATA[number % len(DATA)]
        self.step(command, me, queue, self.one(number), "app.Mail", data, delay, *words)

    @rule(queue=queue, worker=worker, count=count)
    def pop(self, queue, worker, count):
        self.step("pop", queue, worker, count)

    @rule(worker=worker, late=st.sampled_from((0, 11, 61, 61, 0.25)))
    def pop_from_all(self, worker, late):
        self.now += late
        for queue in QUEUES:
            self.step("pop", queue, worker, 3)

    @precondition(some_jobs)
    @rule(numbers=numbers)
    def cancel(self, numbers):
        self.step("cancel", *self.several(numbers))

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
    @rule(data=data)
    def complete_all(self, data):
        for jid in self.in_state("running"):
            job = self.model.jobs[jid]
            self.step("complete", jid, job.worker, job.queue, data)

    @precondition(some_run)
    @rule(pick=pick, claim=claim, data=data, queue=queue, words=advance_options)
    def advance(self, pick, claim, data, queue, words):
        words = self.pairs(words)
        self.step("complete", *self.claimed(pick, claim), data, "next", queue, *words)

    @precondition(some_run)
    @rule(pick=pick, claim=claim, group=group, data=st.sampled_from(((), (), ("[]",), ("{",))))
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
    @rule(pick=pick, others=st.sampled_from(((), (), (), (3,))))
    def timeout(self, pick, others):
        running = self.in_state("running")
        self.step("timeout", *running[: pick % 3 + 1], *self.several(others))

    @rule(number=number, worker=worker, queue=queue, which=st.integers(0, 5))
    def act_on_any_job(self, number, worker, queue, which):
        jid = self.one(number)
        calls = (
            ("heartbeat", jid, worker),
            ("complete", jid, worker, queue, "{}"),
            ("fail", jid, worker, "g", "m"),
            ("retry", jid, queue, worker),
            ("timeout", jid),
            ("get", jid),
        )
        self.step(*calls[which])

    # Failures and bulk work.

    @precondition(some_failed)
    @rule(pick=pick, queue=queue, count=st.sampled_from((25, 1, 2, 0)))
    def unfail(self, pick, queue, count):
        failed = self.in_state("failed")
        failure = self.model.jobs[failed[pick % len(failed)]].failure
        self.step("failed", failure["group"], count % 2, count)
        self.step("unfail", queue, failure["group"], count)

    @precondition(some_jobs)
    @rule(
        command=st.sampled_from(("bulk.move", "bulk.cancel")),
        group=st.sampled_from(("", "", *GROUPS)),
        queue=st.sampled_from(("", *QUEUES)),
        jobs=st.lists(st.tuples(number, st.sampled_from(STATES)), min_size=1, max_size=4),
    )
    def bulk(self, command, group, queue, jobs):
        words = [word for number, states in jobs for word in (self.one(number), states)]
        to = (queue,) if command == "bulk.move" else ()
        self.step(command, group, *to, *words)

    # Marks.

    @precondition(some_jobs)
    @rule(number=number, switch=st.sampled_from(("on",) * 5 + ("off", "maybe")), numbers=numbers)
    def depend(self, number, switch, numbers):
        self.step("depends", self.one(number), switch, *self.several(numbers))

    @precondition(some_wait_for_others)
    @rule(pick=pick, whom=st.sampled_from(("all", "first", "first")))
    def undepend(self, pick, whom):
        waiting = self.in_state("depends")
        job = self.model.jobs[waiting[pick % len(waiting)]]
        self.step("depends", job.jid, "off", "all" if whom == "all" else min(job.waits_for))

    @precondition(some_jobs)
    @rule(number=number, priority=priority)
    def change_priority(self, number, priority):
        self.step("priority", self.one(number), priority)

    @precondition(some_jobs)
    @rule(action=st.sampled_from(("add", "add", "remove")), number=number, tags=tags)
    def tag(self, action, number, tags):
        self.step("tag", action, self.one(number), *tags)
        self.step("tag", "get", tags[0], 0, 2)

    @precondition(some_jobs)
    @rule(action=st.sampled_from(("track", "track", "untrack")), number=number)
    def track(self, action, number):
        self.step("track", action, self.one(number))

    @precondition(some_jobs)
    @rule(number=number, data=st.sampled_from(((), (), ('{"by":"me"}',), ("[1]",))))
    def log(self, number, data):
        for _ in range(3):
            self.step("log", self.one(number), "was here", *data)

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

    @precondition(some_recur)
    @rule(jid=st.sampled_from(RECURRING), words=updates)
    def update_recurring(self, jid, words):
        self.step("recur.update", jid, *words)

    @precondition(some_recur)
    @rule(
        command=st.sampled_from(("recur.tag", "recur.untag", "unrecur")),
        jid=st.sampled_from(RECURRING),
        tags=tags,
    )
    def tag_or_end_recurring(self, command, jid, tags):
        self.step(command, jid, *(() if command == "unrecur" else tags))
        self.step("recur.get", jid)

    # Queues, workers and options.

    @rule(
        command=st.sampled_from(("pause", "unpause", "unpause", "queue.forget")),
        queue=queue,
        worker=worker,
    )
    def pause_or_forget(self, command, queue, worker):
        self.step(command, queue)
        if command == "queue.forget":
            self.step("worker.deregister", worker)
            self.step("workers", worker)

    @rule(setting=setting)
    def set_option(self, setting):
        self.step("config.set", *setting)

    @precondition(lambda self: bool(self.model.config))
    @rule(all_of_them=st.booleans())
    def unset_options(self, all_of_them):
        names = sorted(self.model.config)
        for name in names if all_of_them else names[:1]:
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
