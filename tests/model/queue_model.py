"""qless as plain Python: what each command answers, publishes and leaves, by the wire contract.

It is written from the contract, not from the Lua, and is slow and plain on purpose. A call is made
with `Model.call`; what Redis ought to hold afterwards is `Model.stored()`. Where the contract
leaves something open, a comment says what ours does.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field

DAY = 86400

#: What `config.get` without a key tells of options that nobody set.
LISTED = {
    "application": "qless",
    "heartbeat": 60,
    "grace-period": 10,
    "stats-history": 30,
    "histogram-history": 7,
    "jobs-history-count": 50000,
    "jobs-history": 604800,
}
#: The others that have a default.
UNLISTED = {"max-job-history": 100, "max-worker-age": 86400}

#: The buckets of a histogram in the order of the reply.
BUCKETS = (
    *(f"s{number}" for number in range(60)),
    *(f"m{number}" for number in range(1, 60)),
    *(f"h{number}" for number in range(1, 24)),
    *(f"d{number}" for number in range(1, 7)),
)

#: State -> the set of its queue that holds the job.
SETS = {
    "waiting": "work",
    "stalled": "work",
    "running": "locks",
    "scheduled": "scheduled",
    "depends": "depends",
}

#: How the other keys of a job end.
SIDES = ("-history", "-dependents", "-dependencies")


class Refused(Exception):  # noqa: N818 - it is what happens, as in the contract
    """The command is refused: with which code, and which words it must say."""

    def __init__(self, code, phrase=""):
        super().__init__(f"{code}: {phrase}")
        self.code = code
        self.phrase = phrase


def refuse(code, phrase):
    raise Refused(code, phrase)


def bad(name):
    refuse("BAD_ARGUMENT", name)


@dataclass(eq=False)
class Job:
    jid: str
    klass: str = ""
    state: str = ""
    queue: str = ""
    worker: str = ""
    priority: float = 0
    #: The end of the lock; 0 without one, "" after a failure.
    expires: float | str = 0
    retries: float = 5
    remaining: float = 5
    data: str = "{}"
    tags: list = field(default_factory=list)
    failure: dict = field(default_factory=dict)
    parent: str | bool = False
    #: Of `(when, what, object or None)`, oldest first.
    history: list = field(default_factory=list)
    waits_for: set = field(default_factory=set)
    waited_by: set = field(default_factory=set)
    time: float = 0
    grace: bool = False
    #: When it is due, for when it waits for nobody any more.
    due: float | None = None
    #: Its score in the one set that its state says.
    score: float = 0
    #: In line for work since that moment.
    since: float = 0


@dataclass
class Recurring:
    jid: str
    klass: str
    queue: str
    data: str
    interval: float
    priority: float
    retries: float
    backlog: float
    tags: list
    count: int
    next_run: float


@dataclass
class Place:
    """Where a job is put."""

    queue: str
    priority: float
    retries: float
    me: str = ""
    delay: float = 0
    #: Jids in the place of those that it waited for, when there are any.
    depends: tuple = ()
    forgets: bool = False


def finite(value):
    """Read a number as the script does; None for what is none."""
    try:
        read = float(value)
    except (TypeError, ValueError):
        return None
    return read if math.isfinite(read) else None


def number(value, name):
    read = finite(value)
    if read is None:
        bad(name)
    return read


def whole(value, name):
    read = number(value, name)
    if read % 1:
        bad(name)
    return read


def counted(value, name):
    read = whole(value, name)
    if read < 0:
        bad(name)
    return int(read)


def positive(value, name):
    read = number(value, name)
    if read <= 0:
        bad(name)
    return read


def json_text(value, name):
    try:
        json.loads(value)
    except ValueError:
        bad(name)
    return value


def strings(value, name):
    """Read a JSON list of strings; clients in the field send `{}` for an empty one."""
    read = json.loads(json_text(value, name))
    if read == {}:
        return []
    if not isinstance(read, list) or not all(isinstance(item, str) for item in read):
        bad(name)
    return read


def named(value, name):
    if value == "":
        bad(name)
    return value


def options_of(words):
    if len(words) % 2:
        bad(words[-1])
    return dict(zip(words[::2], words[1::2], strict=True))


def distinct(tags):
    return list(dict.fromkeys(tag for tag in tags if tag.strip()))


def octets(name):
    """Compare names as Redis does, byte by byte."""
    return name.encode()


def by_score(scores):
    """Sort names by score, equal ones by name: the order of a sorted set."""
    return sorted(scores, key=lambda name: (scores[name], octets(name)))


def line(priority, when):
    """Place in the line for work: the higher the sooner."""
    return priority - when / 1e10


def bucket(seconds):
    for unit, size, next_size in (("s", 1, 60), ("m", 60, 3600), ("h", 3600, DAY)):
        if seconds < next_size:
            return f"{unit}{math.floor(seconds / size)}"
    return f"d{math.floor(seconds / DAY)}"


def text_of(pairs):
    """Write a message as the field's clients compare it."""
    return json.dumps(pairs, ensure_ascii=False, separators=(",", ":")).replace("/", "\\/")


class Model:
    """A whole qless. Nothing of it is shared with the script."""

    def __init__(self):
        self.jobs = {}
        self.recurring = {}
        #: Failure group -> jids, the newest first.
        self.groups = defaultdict(list)
        self.queues = {}
        self.paused = set()
        self.workers = {}
        #: Worker -> jid -> the end of the lock.
        self.held = defaultdict(dict)
        self.tracked = {}
        self.config = {}
        #: Tag -> number of uses; tag -> jid -> when.
        self.uses = {}
        self.tagged = defaultdict(dict)
        #: (kind, day, queue) -> the day's figures.
        self.figures = {}
        self.events = []

    def call(self, command, now, *arguments):
        """Answer a command as Redis would, JSON read; `events` are those of this call.

        Raises:
            Refused: and nothing is changed.

        """
        self.events = []
        return getattr(self, f"do_{command.replace('.', '_')}")(now, *arguments)

    # Options.

    def option(self, name, default=None):
        stored = finite(self.config.get(name))
        if stored is not None:
            return stored
        return LISTED.get(name, UNLISTED.get(name)) if default is None else default

    def lock_time(self, queue):
        return self.option(f"{queue}-heartbeat", self.option("heartbeat"))

    def do_config_get(self, _now, *key):
        if key:
            return self.config.get(key[0], LISTED.get(key[0]))
        return LISTED | self.config

    def do_config_set(self, _now, key, value):
        self.config[named(key, "key")] = value
        self.log(option=key, event="config_set", value=value)

    def do_config_unset(self, _now, key):
        self.config.pop(named(key, "key"), None)
        self.log(event="config_unset", option=key)

    # Events.

    def log(self, **pairs):
        self.events.append(["ql:log", text_of(pairs)])

    def tell(self, holder, **pairs):
        if holder:
            self.events.append([f"ql:w:{holder}", text_of(pairs)])

    def tell_followers(self, event, jid):
        if jid in self.tracked:
            self.events.append([f"ql:{event}", jid])

    def lock_lost(self, jid, worker):
        self.tell(worker, jid=jid, event="lock_lost", worker=worker)
        self.log(jid=jid, event="lock_lost", worker=worker)

    # Names and owners.

    def keys_of(self, jid):
        """Tell which of a job's other keys are there."""
        job = self.jobs.get(jid)
        there = job and (job.history, job.waited_by, job.waits_for)
        return {jid + side for side, part in zip(SIDES, there or (), strict=False) if part}

    def jid(self, value, name="jid"):
        """Refuse a jid that names a part of another job."""
        named(value, name)
        for side in SIDES:
            stem = value.removesuffix(side)
            if value.endswith(side) and stem and value in self.keys_of(stem):
                bad(name)
        return value

    def refuse_taken(self, jid):
        stems = [jid.removesuffix(side) for side in SIDES if jid.endswith(side)]
        is_part = jid not in self.jobs and any(stem in self.jobs for stem in stems)
        if is_part or any(jid + side in self.jobs for side in SIDES):
            bad("jid")

    def existing(self, jid):
        if jid not in self.jobs:
            refuse("JOB_NOT_FOUND", f"Job {jid} does not exist")
        return self.jobs[jid]

    def running(self, jid):
        job = self.existing(jid)
        if job.state != "running":
            refuse("JOB_NOT_RUNNING", f"not currently running: {job.state}")
        return job

    def owned(self, jid, worker, queue=None):
        job = self.running(jid)
        if job.worker != worker:
            refuse("LOCK_LOST", "another worker")
        if queue is not None and job.queue != queue:
            refuse("LOCK_LOST", "another queue")
        return job

    def forget_worker(self, worker, now):
        """Forget a silent worker: pops do so in passing, which of them is not told."""
        assert self.is_stale(worker, now), worker
        del self.workers[worker]
        self.held.pop(worker, None)

    def is_stale(self, worker, now):
        return self.workers[worker] <= now - self.option("max-worker-age")

    # Jobs.

    def seen_state(self, job, now):
        """Tell the state as a pop would find it."""
        if job.state == "scheduled" and job.score <= now:
            return "waiting"
        if job.state == "running" and job.score <= now:
            return "stalled"
        return job.state

    def shown(self, job, now):
        due = job.state == "scheduled" and job.score <= now
        return {
            "jid": job.jid,
            "klass": job.klass,
            "state": "waiting" if due else job.state,
            "queue": job.queue,
            "worker": job.worker,
            "tracked": job.jid in self.tracked,
            "priority": job.priority,
            "expires": job.expires or 0,
            "retries": job.retries,
            "remaining": job.remaining,
            "data": job.data,
            "tags": list(job.tags),
            "history": [
                {**(item or {}), "what": what, "when": when} for when, what, item in job.history
            ],
            "failure": dict(job.failure),
            "spawned_from_jid": job.parent,
            "dependents": sorted(job.waited_by),
            "dependencies": sorted(job.waits_for),
        }

    def remember(self, job, now, what, item=None):
        job.history.append((math.floor(now), what, item))
        most = math.floor(self.option("max-job-history"))
        if 0 < most < len(job.history):
            job.history[1:] = job.history[len(job.history) - most + 1 :]

    def release_hold(self, job):
        self.held[job.worker].pop(job.jid, None)

    def enter(self, job, now, delay):
        """Into the set of the job's queue where it belongs."""
        if job.waits_for:
            job.state, job.score = "depends", now
        elif delay > 0:
            job.state, job.score = "scheduled", now + delay
        else:
            job.state, job.score, job.since = "waiting", line(job.priority, now), now

    def do_get(self, now, jid):
        job = self.jobs.get(self.jid(jid))
        return job and self.shown(job, now)

    def do_multiget(self, now, *jids):
        found = [self.jobs.get(self.jid(jid)) for jid in jids]
        return [self.shown(job, now) for job in found if job]

    def do_put(self, now, *arguments):
        return self.put(now, arguments)

    def do_requeue(self, now, *arguments):
        return self.put(now, arguments, must_exist=True)

    def put(self, now, arguments, *, must_exist=False):
        me, queue, jid, klass, data, delay, *words = arguments
        named(queue, "queue")
        self.jid(jid)
        json_text(data, "data")
        delay = number(delay, "delay")
        given = self.put_options(options_of(words))
        if must_exist:
            self.existing(jid)
        self.refuse_taken(jid)
        self.refuse_ring(jid, given["depends"])

        job = self.jobs.get(jid) or Job(jid)
        priority = given.get("priority", job.priority)
        retries = given.get("retries", job.retries)
        tags = given.get("tags", job.tags)
        self.retag(now, job, tags)
        self.jobs[jid] = job
        job.klass, job.data, job.priority, job.retries = klass, data, priority, retries
        self.place(
            now, job, Place(queue, priority, retries, me, delay, depends=tuple(given["depends"]))
        )
        return jid

    def put_options(self, words):
        given = {"depends": []}
        if "priority" in words:
            given["priority"] = number(words["priority"], "priority")
        if "retries" in words:
            given["retries"] = whole(words["retries"], "retries")
        if "tags" in words:
            given["tags"] = distinct(strings(words["tags"], "tags"))
        if "depends" in words:
            given["depends"] = [
                self.jid(jid, "depends") for jid in strings(words["depends"], "depends")
            ]
        return given

    def place(self, now, job, to, *, listed=False):
        """Put a job, from wherever it is; `listed` leaves it on the list of its failure group."""
        self.remember(job, now, "put", {"q": to.queue})
        if to.depends:
            self.replace_dependencies(job, to.depends)
        if job.state == "failed":
            self.unfailed(job, listed=listed)
        owner = job.worker
        self.release_hold(job)
        job.queue = to.queue
        self.enter(job, now, to.delay)
        if job.waits_for and to.delay > 0:
            job.due = now + to.delay
        job.worker, job.expires, job.remaining, job.time = "", 0, to.retries, now
        if to.forgets:
            job.failure = {}
        self.queues.setdefault(to.queue, now)
        self.log(jid=job.jid, event="put", queue=to.queue)
        if owner and owner != to.me:
            self.lock_lost(job.jid, owner)
        self.tell_followers("put", job.jid)

    def put_again(self, now, job, queue, *, forgets):
        to = Place(queue, job.priority, job.retries, forgets=forgets)
        self.place(now, job, to, listed=True)

    def do_priority(self, _now, jid, priority):
        self.jid(jid)
        priority = number(priority, "priority")
        job = self.existing(jid)
        job.priority = priority
        if SETS.get(job.state) == "work" and math.isfinite(job.score):
            job.score = line(priority, job.since)
        return int(priority)

    def do_log(self, now, jid, message, *data):
        self.jid(jid)
        item = None
        if data:
            item = json.loads(json_text(data[0], "data"))
            if not isinstance(item, dict):
                bad("data")
        self.remember(self.existing(jid), now, message, item)

    def destroy(self, job):
        self.unindex(job.jid, job.tags)
        del self.jobs[job.jid]

    # Dependencies.

    def effective(self, jids):
        """Tell which of these can be waited for."""
        there = (self.jobs.get(jid) for jid in jids)
        return {job.jid for job in there if job and job.state != "complete"}

    def link(self, job, jids):
        for jid in jids:
            self.jobs[jid].waited_by.add(job.jid)
            job.waits_for.add(jid)

    def unlink(self, job, jid):
        job.waits_for.discard(jid)
        if jid in self.jobs:
            self.jobs[jid].waited_by.discard(job.jid)

    def refuse_ring(self, jid, jids):
        met, ahead = set(), list(jids)
        while ahead:
            other = ahead.pop()
            if other == jid:
                bad("depend on")
            if other not in met and other in self.jobs:
                met.add(other)
                ahead.extend(self.jobs[other].waits_for)

    def replace_dependencies(self, job, jids):
        self.link(job, self.effective(jids))
        for jid in job.waits_for - set(jids):
            self.unlink(job, jid)

    def release(self, now, job):
        """Let those go to work that waited for this one alone."""
        for jid in job.waited_by:
            other = self.jobs[jid]
            other.waits_for.discard(job.jid)
            if not other.waits_for and other.state == "depends":
                if other.due is None:
                    self.enter(other, now, 0)
                else:
                    other.state, other.score, other.due = "scheduled", other.due, None
        job.waited_by = set()

    def do_depends(self, now, jid, switch, *jids):
        self.jid(jid)
        if switch not in ("on", "off"):
            bad("switch")
        jids = [self.jid(other) for other in jids]
        job = self.jobs.get(jid)
        state = job.state if job else "missing"
        allowed = ("waiting", "scheduled", "depends") if switch == "on" else ("depends",)
        if state not in allowed:
            refuse("NOT_DEPENDS", f"not in the depends state: {state}")
        if switch == "on":
            self.refuse_ring(jid, jids)
            if state != "depends" and not self.effective(jids):
                refuse("NOT_DEPENDS", f"not in the depends state: {state}")
            self.depend(now, job, jids)
        else:
            self.undepend(now, job, list(job.waits_for) if jids == ["all"] else jids)
        return 1

    def depend(self, now, job, jids):
        self.link(job, self.effective(jids))
        if job.waits_for and job.state != "depends":
            job.due = job.score if job.state == "scheduled" else None
            self.enter(job, now, 0)

    def undepend(self, now, job, jids):
        for jid in jids:
            self.unlink(job, jid)
        if not job.waits_for:
            self.enter(job, now, 0)

    # Pop.

    def do_pop(self, now, queue, worker, count):
        named(queue, "queue")
        named(worker, "worker")
        count = counted(count, "count")
        if queue in self.paused:
            return []
        self.workers[worker] = now
        most = math.floor(self.option(f"{queue}-max-concurrency", 0))
        if most > 0:
            held = [job for job in self.members("locks", queue) if job.score > now]
            count = min(count, max(most - len(held), 0))
        taken = [self.start(now, job, worker) for job in self.expire(now, queue, count)]
        room = count - len(taken)
        self.spawn(now, queue, room)
        for job in self.due(now, "scheduled", queue)[:room]:
            self.enter(job, now, 0)
        taken += [self.start(now, job, worker) for job in self.members("work", queue)[::-1][:room]]
        if taken:
            self.measure("wait", queue, now, [now - since for _, since in taken])
        return [self.shown(job, now) for job, _ in taken]

    def members(self, name, queue):
        """List the jobs in a set of a queue, by score."""
        here = [
            job for job in self.jobs.values() if job.queue == queue and SETS.get(job.state) == name
        ]
        return sorted(here, key=lambda job: (job.score, octets(job.jid)))

    def due(self, now, name, queue):
        return [job for job in self.members(name, queue) if job.score <= now]

    def start(self, now, job, worker):
        """Give a job to a worker; answers it, and since when it waited."""
        since = job.time
        self.remember(job, now, "popped", {"worker": worker})
        expires = now + self.lock_time(job.queue)
        job.state, job.worker, job.time = "running", worker, now
        job.expires = job.score = self.held[worker][job.jid] = expires
        self.tell_followers("popped", job.jid)
        return job, since

    def expire(self, now, queue, count):
        """Warn those whose lock is past; answers those whose grace is past, too."""
        free = []
        grace = self.option("grace-period")
        for job in self.due(now, "locks", queue)[:count]:
            self.release_hold(job)
            was_warned = job.grace
            if not was_warned or grace <= 0:
                self.warn(now, job, grace)
            if (was_warned or grace <= 0) and self.use_retry(now, job):
                free.append(job)
        return free

    def warn(self, now, job, grace):
        self.remember(job, now, "timed-out")
        job.grace, job.score = True, now + grace
        self.count(now, job.queue, "retries")
        self.tell_followers("stalled", job.jid)
        self.lock_lost(job.jid, job.worker)

    def use_retry(self, now, job):
        job.grace = False
        job.remaining -= 1
        if job.remaining >= 0:
            return True
        owner = job.worker
        group, message = self.exhausted(job.queue)
        self.record_failure(now, job, failure(now, group, message, ""), {"group": group})
        self.tell_followers("failed", job.jid)
        self.log_failure(job, owner)
        return False

    def candidates(self, now, queue, room):
        """List what competes in a pop for the places of `room`, the best first."""
        children = self.plan(now, queue, room)
        found = [(child["score"], child["jid"], child) for child in children]
        found += [
            (line(job.priority, now), job.jid, job)
            for job in self.due(now, "scheduled", queue)[:room]
        ]
        found += [(job.score, job.jid, job) for job in self.members("work", queue)]
        return sorted(found, key=lambda entry: (entry[0], octets(entry[1])), reverse=True)

    def do_peek(self, now, queue, count):
        named(queue, "queue")
        count = counted(count, "count")
        first = [self.shown(job, now) for job in self.due(now, "locks", queue)[:count]]
        room = count - len(first)
        found = self.candidates(now, queue, room)[:room] if room else []
        return first + [
            self.shown(self.child(entry, queue) if isinstance(entry, dict) else entry, now)
            for _, _, entry in found
        ]

    # What a worker does.

    def do_heartbeat(self, now, jid, worker, *data):
        self.jid(jid)
        if data:
            json_text(data[0], "data")
        job = self.owned(jid, worker)
        expires = now + self.lock_time(job.queue)
        job.expires = job.score = self.held[worker][jid] = expires
        if data:
            job.data = data[0]
        self.workers[worker] = now
        return int(expires)

    def do_complete(self, now, jid, worker, queue, data, *words):
        self.jid(jid)
        json_text(data, "data")
        to, delay, depends = self.complete_options(options_of(words))
        job = self.owned(jid, worker, queue)
        self.refuse_ring(jid, depends)

        self.remember(job, now, "done")
        self.release_hold(job)
        self.measure("run", queue, now, [now - job.time])
        was_followed = jid in self.tracked
        job.data, job.worker, job.expires = data, "", 0
        job.failure, job.remaining, job.time = {}, job.retries, now
        if to:
            self.advance(now, job, Place(to, job.priority, job.retries, "", delay, depends))
        else:
            job.state, job.queue, job.score = "complete", "", now
            self.release(now, job)
            self.prune(now)
        if was_followed:
            self.events.append(["ql:completed", jid])
        if to:
            self.log(jid=jid, to=to, event="advanced", queue=queue)
        else:
            self.log(jid=jid, event="completed", queue=queue)
        return job.state

    def complete_options(self, given):
        to = named(given["next"], "next") if "next" in given else None
        delay = number(given.get("delay", 0), "delay")
        listed = strings(given.get("depends", "[]"), "depends")
        if not to and ("delay" in given or "depends" in given):
            bad("next")
        return to, delay, [self.jid(jid, "depends") for jid in listed]

    def advance(self, now, job, to):
        self.link(job, self.effective(to.depends))
        job.queue = to.queue
        self.enter(job, now, to.delay)
        if job.waits_for and to.delay > 0:
            job.due = now + to.delay
        self.remember(job, now, "put", {"q": to.queue})
        self.queues.setdefault(to.queue, now)

    def prune(self, now):
        """Forget completed jobs, by age and by number."""
        limit = now - self.option("jobs-history")
        most = max(math.floor(self.option("jobs-history-count")), 0)
        completed = self.completed()
        kept = [job for job in completed if job.score > limit][:most]
        for job in completed:
            if job not in kept:
                self.destroy(job)
                self.tracked.pop(job.jid, None)

    def completed(self):
        """List complete jobs, the newest first."""
        done = [job for job in self.jobs.values() if job.state == "complete"]
        return sorted(done, key=lambda job: (job.score, octets(job.jid)), reverse=True)

    def do_fail(self, now, jid, worker, group, message, *data):
        self.jid(jid)
        if data:
            json_text(data[0], "data")
        job = self.owned(jid, worker)
        self.release_hold(job)
        if data:
            job.data = data[0]
        item = {"worker": worker, "group": group}
        self.record_failure(now, job, failure(now, group, message, worker), item)
        self.log_failure(job, worker)
        self.tell_followers("failed", jid)
        return jid

    def record_failure(self, now, job, failed, item):
        job.failure = failed
        job.state, job.worker, job.expires = "failed", "", ""
        self.remember(job, now, "failed", item)
        self.groups[failed["group"]].insert(0, job.jid)
        self.count(now, job.queue, "failures")
        self.count(now, job.queue, "failed")

    def log_failure(self, job, worker):
        self.log(
            message=job.failure["message"],
            jid=job.jid,
            group=job.failure["group"],
            event="failed",
            worker=worker,
        )

    def exhausted(self, queue):
        return f"failed-retries-{queue}", f'Job exhausted retries in queue "{queue}"'

    def do_retry(self, now, jid, queue, worker, *words):
        delay, group, message = (*words, *(0, None, None)[len(words) :])
        self.jid(jid)
        delay = number(delay, "delay")
        job = self.owned(jid, worker, queue)
        self.release_hold(job)
        job.grace = False
        job.remaining -= 1
        if job.remaining < 0:
            usual_group, usual_message = self.exhausted(queue)
            group = usual_group if group is None else group
            # What the worker did not explain is not its failure.
            told = (usual_message, "") if message is None else (message, worker)
            self.record_failure(now, job, failure(now, group, *told), {"group": group})
            self.tell_followers("failed", jid)
            return -1
        self.enter(job, now, delay)
        if group is not None and message is not None:
            job.failure = failure(now, group, message, worker)
        return int(job.remaining)

    def do_timeout(self, now, *jids):
        jobs = {jid: self.running(self.jid(jid)) for jid in jids}
        for job in jobs.values():
            self.remember(job, now, "timed-out")
            self.release_hold(job)
            job.state, job.score, job.expires = "stalled", math.inf, 0
            self.lock_lost(job.jid, job.worker)

    # Failures, cancel, bulk.

    def unfailed(self, job, *, listed=False):
        """Take a failed job off its group, unless the caller does, and off the statistic."""
        if not listed:
            self.unlist(job.failure["group"], [job.jid])
        figures = self.figures.get(("stats", self.day(job.failure["when"]), job.queue), {})
        if figures.get("failed", 0) > 0:
            figures["failed"] -= 1

    def unlist(self, group, jids):
        self.groups[group] = [jid for jid in self.groups[group] if jid not in jids]
        if not self.groups[group]:
            del self.groups[group]

    def do_failed(self, _now, *arguments):
        if not arguments:
            return {group: len(jids) for group, jids in self.groups.items()}
        group, *page = arguments
        start, limit = page_of(page)
        jids = self.groups.get(group, [])
        return {"total": len(jids), "jobs": page_or_all(jids, start, limit)}

    def do_unfail(self, now, queue, group, count=25):
        named(queue, "queue")
        count = counted(count, "count")
        jids = self.groups.get(group, [])[::-1][:count]
        for jid in jids:
            self.put_again(now, self.jobs[jid], queue, forgets=True)
        if jids:
            self.unlist(group, jids)
        return len(jids)

    def holders(self, jid, but):
        """Tell who outside of a set waits for a job."""
        job = self.jobs.get(jid)
        return job.waited_by - set(but) if job else set()

    def do_cancel(self, _now, *jids):
        for jid in jids:
            self.jid(jid)
        for jid in jids:
            if self.holders(jid, jids):
                refuse("HAS_DEPENDENTS", f"{jid} is a dependency of ")
        for jid in dict.fromkeys(jids):
            self.cancel(jid)
        return list(jids)

    def cancel(self, jid):
        job = self.jobs.get(jid)
        if job and job.state == "complete":
            return
        if job and job.state == "failed":
            self.unfailed(job)
        if job:
            self.release_hold(job)
            for other in job.waits_for:
                if other in self.jobs:
                    self.jobs[other].waited_by.discard(jid)
            self.destroy(job)
        was_followed = self.tracked.pop(jid, None) is not None
        worker = job.worker if job else False
        said = {"jid": jid, "queue": job.queue if job else False, "event": "canceled"}
        self.log(**said, worker=worker)
        self.tell(worker, **said, worker=worker)
        if was_followed:
            self.events.append(["ql:canceled", jid])

    def look(self, now, group, jid, wanted):
        """Find a job for bulk work; answers it, or why it is left out."""
        job = self.jobs.get(jid)
        if not job:
            return "gone"
        seen = self.seen_state(job, now)
        if wanted and not {seen, job.state} & set(wanted.split(",")):
            return seen
        if group and job.state != "failed":
            return seen
        if group and job.failure["group"] != group:
            return "group"
        return job

    def pairs(self, words):
        if not words or len(words) % 2:
            bad("pairs")
        jobs = {}
        for jid, wanted in zip(words[::2], words[1::2], strict=True):
            jobs.setdefault(self.jid(jid), wanted)
        return jobs

    def do_bulk_move(self, now, group, queue, *words):
        found, left, touched = [], {}, set()
        for jid, wanted in self.pairs(words).items():
            job = self.look(now, group, jid, wanted)
            if isinstance(job, str):
                left[jid] = job
            elif queue or job.queue:
                found.append(job)
            else:
                left[jid] = "nowhere"
        for job in found:
            if job.state == "failed":
                touched.add(job.failure["group"])
                self.unlist(job.failure["group"], [job.jid])
            self.put_again(now, job, queue or job.queue, forgets=False)
        return self.report([job.jid for job in found], left, touched, group)

    def report(self, done, left, touched, group):
        if group and "gone" in left.values():
            touched.add(group)
        emptied = sorted(name for name in touched if not self.groups.get(name))
        return {"done": done, "left": left, "emptied": emptied}

    def do_bulk_cancel(self, now, group, *words):
        chosen, left, touched = [], {}, set()
        for jid, wanted in self.pairs(words).items():
            job = self.look(now, group, jid, wanted)
            if isinstance(job, str):
                left[jid] = job
            elif job.state == "complete":
                left[jid] = "complete"
            else:
                chosen.append(jid)
                if job.state == "failed":
                    touched.add(job.failure["group"])
        while spared := [jid for jid in chosen if self.holders(jid, chosen)]:
            left.update(dict.fromkeys(spared, "dependents"))
            chosen = [jid for jid in chosen if jid not in spared]
        for jid in chosen:
            self.cancel(jid)
        return self.report(chosen, left, touched, group)

    # Tags, tracked jobs.

    def index(self, now, jid, tags):
        for tag in tags:
            self.tagged[tag][jid] = now
            self.uses[tag] = self.uses.get(tag, 0) + 1

    def unindex(self, jid, tags):
        """Count one use less of each; where none is left, those who carry it count as one each."""
        for tag in tags:
            self.tagged[tag].pop(jid, None)
            self.uses[tag] = self.uses.get(tag, 0) - 1
            if not self.tagged[tag]:
                del self.tagged[tag], self.uses[tag]
            elif self.uses[tag] < 1:
                self.uses[tag] = len(self.tagged[tag])

    def retag(self, now, job, tags):
        self.unindex(job.jid, [tag for tag in job.tags if tag not in tags])
        for tag in tags:
            if tag in job.tags:
                self.tagged[tag][job.jid] = now
            else:
                self.index(now, job.jid, [tag])
        job.tags = list(tags)

    def do_tag(self, now, action, *arguments):
        if action == "top":
            offset, count = page_of(arguments)
            often = {tag: uses for tag, uses in self.uses.items() if uses > 1}
            return by_score(often)[::-1][offset : offset + count]
        if action == "get":
            tag, *page = arguments
            offset, count = page_of(page)
            jids = by_score(self.tagged.get(tag, {}))
            return {"total": len(jids), "jobs": page_or_all(jids, offset, count)}
        jid, *tags = arguments
        job = self.existing(self.jid(jid))
        if action == "add":
            self.index(now, jid, [tag for tag in tags if tag.strip()])
            job.tags = distinct([*job.tags, *tags])
        else:
            self.unindex(jid, tags)
            job.tags = [tag for tag in job.tags if tag not in tags]
        return list(job.tags)

    def do_track(self, now, *arguments):
        if not arguments:
            jobs = [self.shown(self.jobs[jid], now) for jid in by_score(self.tracked)]
            return {"jobs": jobs, "expired": []}
        action, jid = arguments
        self.existing(self.jid(jid))
        was_followed = jid in self.tracked
        if action == "track":
            self.tracked[jid] = now
        else:
            self.tracked.pop(jid, None)
        self.events.append([f"ql:{action}", jid])
        return str(int(was_followed == (action == "untrack")))

    # Queues and workers.

    def counts(self, now, queue):
        locks, scheduled = self.members("locks", queue), self.members("scheduled", queue)
        due, stalled = self.due(now, "scheduled", queue), self.due(now, "locks", queue)
        return {
            "name": queue,
            "waiting": len(self.members("work", queue)) + len(due),
            "running": len(locks) - len(stalled),
            "stalled": len(stalled),
            "scheduled": len(scheduled) - len(due),
            "depends": len(self.members("depends", queue)),
            "recurring": len(self.recurring_in(queue)),
            "paused": queue in self.paused,
        }

    def do_queues(self, now, *queue):
        if queue:
            return self.counts(now, queue[0])
        return [self.counts(now, name) for name in by_score(self.queues)]

    def do_length(self, _now, queue):
        return sum(len(self.members(name, queue)) for name in ("work", "locks", "scheduled"))

    def do_jobs(self, now, state, *arguments):
        if state == "complete":
            offset, count = page_of(arguments)
            return page_or_all([job.jid for job in self.completed()], offset, count)
        queue, *page = arguments
        offset, count = page_of(page)
        if state == "recurring":
            jids = by_score(self.recurring_in(queue))
        else:
            name = "locks" if state == "stalled" else SETS[state]
            jids = [job.jid for job in self.members(name, queue) if self.is_listed(job, state, now)]
        if state in {"scheduled", "depends", "throttled"}:
            return page_or_all(jids, offset, count)
        return jids[offset : offset + count]

    def is_listed(self, job, state, now):
        # A lock that ends in this very moment is listed as both, as in the recordings.
        ends_now = job.state == "running" and job.score == now
        return self.seen_state(job, now) == state or (state == "running" and ends_now)

    def do_pause(self, _now, *queues):
        self.paused |= set(queues)

    def do_unpause(self, _now, *queues):
        self.paused -= set(queues)

    def do_queue_forget(self, _now, *queues):
        self.paused -= set(queues)
        for queue in queues:
            self.queues.pop(queue, None)

    def do_workers(self, now, *worker):
        if worker:
            name = worker[0]
            held = self.held.get(name, {})
            if name in self.workers and self.is_stale(name, now):
                held = {}
            jids = by_score(held)[::-1]
            # As with `jobs`: a lock that ends in this very moment is told of as both.
            return {
                "jobs": [jid for jid in jids if held[jid] >= now],
                "stalled": [jid for jid in jids if held[jid] <= now],
            }
        return [
            {
                "name": name,
                "jobs": sum(end >= now for end in self.held[name].values()),
                "stalled": sum(end <= now for end in self.held[name].values()),
            }
            for name in by_score(self.workers)[::-1]
            if not self.is_stale(name, now)
        ]

    def do_worker_deregister(self, _now, *workers):
        for worker in workers:
            self.workers.pop(worker, None)

    # Statistics.

    def day(self, when):
        return int(when - when % DAY)

    def count(self, now, queue, name):
        figures = self.figures.setdefault(("stats", self.day(now), queue), {})
        figures[name] = figures.get(name, 0) + 1

    def measure(self, kind, queue, now, durations):
        """Add to a day's figures; a clock that is behind makes no negative durations."""
        figures = self.figures.setdefault(
            (kind, self.day(now), queue), {"total": 0, "mean": 0, "vk": 0}
        )
        for duration in durations:
            value = max(duration, 0)
            figures["total"] += 1
            before = figures["mean"]
            figures["mean"] += (value - before) / figures["total"]
            figures["vk"] += (value - before) * (value - figures["mean"])
            figures[bucket(value)] = figures.get(bucket(value), 0) + 1

    def do_stats(self, _now, queue, date):
        day = self.day(number(date, "date"))
        counts = self.figures.get(("stats", day, queue), {})
        reply = {name: counts.get(name, 0) for name in ("retries", "failed", "failures")}
        for kind in ("wait", "run"):
            figures = self.figures.get((kind, day, queue), {"total": 0, "mean": 0, "vk": 0})
            total = figures["total"]
            reply[kind] = {
                "count": total,
                "mean": figures["mean"],
                "std": math.sqrt(figures["vk"] / (total - 1)) if total > 1 else 0,
                "histogram": [figures.get(name, 0) for name in BUCKETS],
            }
        return reply

    # Recurring jobs.

    def recurring_in(self, queue):
        return {
            jid: recurring.next_run
            for jid, recurring in self.recurring.items()
            if recurring.queue == queue
        }

    def do_recur(self, now, *arguments):
        queue, jid, klass, data, spec, interval, offset, *words = arguments
        named(queue, "queue")
        self.jid(jid)
        json_text(data, "data")
        if spec != "interval":
            bad("spec")
        interval, offset = positive(interval, "interval"), number(offset, "offset")
        given = self.recur_options(options_of(words))
        keeps = given.pop("keep-next-run") > 0
        old = self.recurring.get(jid)
        next_run = old.next_run if old and keeps else now + offset
        self.recurring[jid] = Recurring(
            jid,
            klass,
            queue,
            data,
            interval,
            count=old.count if old else 0,
            next_run=next_run,
            **given,
        )
        self.queues.setdefault(queue, now)
        return jid

    def recur_options(self, given):
        return {
            "priority": number(given.get("priority", 0), "priority"),
            "retries": whole(given.get("retries", 0), "retries"),
            "backlog": counted(given.get("backlog", 0), "backlog"),
            "tags": distinct(strings(given.get("tags", "[]"), "tags")),
            "keep-next-run": counted(given.get("keep-next-run", 0), "keep-next-run"),
        }

    def recurs(self, jid):
        self.jid(jid)
        if jid not in self.recurring:
            refuse("RECURRING_NOT_FOUND", "does not exist")
        return self.recurring[jid]

    def do_recur_get(self, _now, jid):
        recurring = self.recurring.get(self.jid(jid))
        names = "jid klass queue priority interval retries count data tags backlog"
        return recurring and {
            "state": "recur",
            **{name: getattr(recurring, name) for name in names.split()},
        }

    def do_recur_update(self, now, jid, *words):
        checks = {
            "priority": number,
            "interval": positive,
            "retries": whole,
            "backlog": counted,
            "data": json_text,
            "klass": lambda value, _: value,
            "queue": named,
        }
        self.jid(jid)
        changes = {}
        for name, value in options_of(words).items():
            if name not in checks:
                bad(name)
            changes[name] = checks[name](value, name)
        recurring = self.recurs(jid)
        recurring.next_run += changes.get("interval", recurring.interval) - recurring.interval
        for name, value in changes.items():
            setattr(recurring, name, value)
        if "queue" in changes:
            self.queues.setdefault(recurring.queue, now)
        return 1

    def do_recur_tag(self, _now, jid, *tags):
        recurring = self.recurs(jid)
        recurring.tags = distinct([*recurring.tags, *tags])
        return list(recurring.tags)

    def do_recur_untag(self, _now, jid, *tags):
        recurring = self.recurs(jid)
        recurring.tags = [tag for tag in recurring.tags if tag not in tags]
        return list(recurring.tags)

    def do_unrecur(self, _now, jid):
        self.recurring.pop(self.jid(jid), None)
        return 1

    def plan(self, now, queue, room, moved=None):
        """List the children that are owed, at most `room`; `moved` gets what moves on."""
        children = []
        for jid in by_score(self.recurring_in(queue)):
            recurring = self.recurring[jid]
            left = room - len(children)
            if recurring.next_run > now or left <= 0:
                break
            due, next_run = self.runs(now, recurring, left)
            count = recurring.count
            for when in due:
                count = self.next_number(jid, count)
                children.append(
                    {
                        "jid": f"{jid}-{count}",
                        "of": recurring,
                        "when": math.floor(when),
                        "score": line(recurring.priority, math.floor(when)),
                    }
                )
            if moved is not None:
                moved.append((recurring, count, next_run))
        return children

    def runs(self, now, recurring, room):
        """Tell when it was due: once for each interval missed, or the backlog and one more."""
        when, interval, backlog = recurring.next_run, recurring.interval, recurring.backlog
        if interval % 1 == 0:
            when = math.floor(when)
        owed = (now - when) / interval
        if 0 < backlog < owed:
            when += math.ceil(owed - backlog) * interval
        due = []
        while when <= now and len(due) < room:
            due.append(when)
            when += interval
        return due, when

    def next_number(self, jid, count):
        """Find a number, behind the last one, whose child is not there.

        Which one the contract leaves open; ours is found in steps that double, then halve.
        """

        def is_taken(number):
            child = f"{jid}-{number}"
            return any(name in self.jobs for name in (child, *(child + side for side in SIDES)))

        if not is_taken(count + 1):
            return count + 1
        low, step = count + 1, 1
        while is_taken(low + step):
            low, step = low + step, step * 2
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if is_taken(middle) else (low, middle)
        return high

    def child(self, planned, queue):
        recurring = planned["of"]
        return Job(
            planned["jid"],
            recurring.klass,
            "waiting",
            queue,
            priority=recurring.priority,
            retries=recurring.retries,
            remaining=recurring.retries,
            data=recurring.data,
            tags=list(recurring.tags),
            parent=recurring.jid,
            history=[(planned["when"], "put", {"q": queue})],
            time=planned["when"],
            score=planned["score"],
            since=planned["when"],
        )

    def spawn(self, now, queue, room):
        moved = []
        for planned in self.plan(now, queue, room, moved):
            child = self.jobs[planned["jid"]] = self.child(planned, queue)
            self.index(now, child.jid, child.tags)
        for recurring, count, next_run in moved:
            recurring.count, recurring.next_run = count, next_run

    # What is stored.

    def stored(self):
        """Write down all that Redis ought to hold: key -> value, as `driver.stored` reads it."""
        keys = {
            "ql:queues": dict(self.queues),
            "ql:paused_queues": set(self.paused),
            "ql:workers": dict(self.workers),
            "ql:tracked": dict(self.tracked),
            "ql:failures": {group for group, jids in self.groups.items() if jids},
            "ql:completed": {job.jid: job.score for job in self.completed()},
            "ql:tags": dict(self.uses),
            "ql:config": dict(self.config),
        }
        keys |= {f"ql:f:{group}": list(jids) for group, jids in self.groups.items()}
        keys |= {f"ql:w:{worker}:jobs": dict(held) for worker, held in self.held.items()}
        keys |= {f"ql:t:{tag}": dict(jids) for tag, jids in self.tagged.items()}
        keys |= {
            f"ql:s:{kind}:{day}:{queue}": dict(figures)
            for (kind, day, queue), figures in self.figures.items()
        }
        for job in self.jobs.values():
            self.store(job, keys)
        for recurring in self.recurring.values():
            keys[f"ql:r:{recurring.jid}"] = {
                **vars(recurring),
                "state": "recur",
                "type": "interval",
            }
            del keys[f"ql:r:{recurring.jid}"]["next_run"]
            keys.setdefault(f"ql:q:{recurring.queue}-recur", {})[recurring.jid] = recurring.next_run
        return {key: value for key, value in keys.items() if value}

    def store(self, job, keys):
        key = f"ql:j:{job.jid}"
        names = "jid klass state queue worker priority expires retries remaining data tags time"
        keys[key] = {name: getattr(job, name) for name in names.split()}
        odd = {
            "failure": job.failure or None,
            "spawned_from_jid": job.parent or None,
            "grace": 1 if job.grace else None,
            "scheduled": job.due,
        }
        keys[key] |= {name: value for name, value in odd.items() if value is not None}
        keys[f"{key}-history"] = [
            [when, what, item] if item is not None else [when, what]
            for when, what, item in job.history
        ]
        keys[f"{key}-dependents"] = set(job.waited_by)
        keys[f"{key}-dependencies"] = set(job.waits_for)
        if job.state in SETS:
            place = f"ql:q:{job.queue}-{SETS[job.state]}"
            keys.setdefault(place, {})[job.jid] = job.score


def failure(now, group, message, worker):
    return {"group": group, "message": message, "when": math.floor(now), "worker": worker}


def page_or_all(items, offset, count):
    """Give a page; all, where offset and count are 0, as the original's arithmetic has it."""
    return items[offset : offset + count] if offset or count else items


def page_of(arguments):
    """Read offset and count of a listing."""
    offset, count = [*arguments, 0, 25][:2] if not arguments else [*arguments, 25][:2]
    return counted(offset, "offset"), counted(count, "count")
