"""Whatever a client sends: an answer or a refusal by name, and a refusal writes nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import ResponseError

from tests.lua.conftest import REFUSAL
from tests.lua.malformed import BAD_CALLS

JID = ("a", "b", "c", "r", "r-1", "r-2", "a-history", "b-dependents", "c-dependencies", "-history")
QUEUE = ("q", "q-work", "other", "q:q")
WORKER = ("w", "v", "w:jobs")
GROUP = ("g", "failed-retries-q", "")
TEXT = ("", "K", "all", "1", "\x00\xff", "ü", "x" * 300, "%s %d", "a\nb")
ODD_NUMBER = (
    *("-0", "-1", "0.5", "1e300", "-1e300", "1e308", "1e17", "1e12", "1e-320", "9007199254740993"),
    *("nan", "inf", "1e400", "0x10", " 5", "5x", ""),
)
NUMBER = (*("0", "1", "5") * 6, *ODD_NUMBER)
ODD_MOMENT = ("1e11", "-1", "-0", "1e300", "nan", "inf", "")
MOMENT = (*("0", "1", "100", "100.5", "200", "5000", "1e9", "auto") * 4, *ODD_MOMENT)
LIST = (*('["a"]', '["b","c"]', "[]") * 3, '["a-history"]', "{}", '[""]', "[1]", '["x","x"," "]')
DATA = (*("{}", "[]", '{"a":[]}') * 5, "1", '"x"', "[1,", '"\\ud800"', "[" * 1001)
RUNS = (*("[200,300]", "[100,5000,6000]") * 5, "[]", "{}", "[1,1]", "[0.5]", "[-1]", "[1e12]")
STATES = ("", "failed", "waiting,running", "complete,stalled", "depends,scheduled")
LISTS = (
    *("waiting", "due", "scheduled", "running", "stalled", "depends", "throttled", "recurring"),
    "complete",
)
THROTTLE = ("t", "u", "ql:q:q", "ql:q:other", "t-locks", "")
THROTTLES = (*('["t"]', '["u","t"]', "[]") * 3, '["ql:q:q"]', '["t-locks"]', '[""]', "{}", "[1]")
CONFIG = (
    "heartbeat",
    "grace-period",
    "max-job-history",
    "jobs-history",
    "jobs-history-count",
    "q-max-concurrency",
    "max-failure-message",
    "stats-history",
    "max-worker-age",
    "rate-limits",
    "host-max-running",
    "host-max-failures",
    "host-failure-span",
    "drop-backoff",
)
RATES = (*('{"K":[1,5]}', '{"1":[2,100]}') * 5, '{"K":[1e300,1e300]}', '{"K":[0.1,-1]}', "{}", "5")
OPTIONS = (
    ("priority", NUMBER),
    ("retries", NUMBER),
    ("tags", LIST),
    ("depends", LIST),
    ("delay", NUMBER),
    ("next", QUEUE),
    ("backlog", NUMBER),
    ("heartbeat", NUMBER),
    ("keep-next-run", NUMBER),
    ("interval", NUMBER),
    ("queue", QUEUE),
    ("data", DATA),
    ("at", NUMBER),
    ("strict", NUMBER),
    ("throttles", THROTTLES),
    ("cron", TEXT),
    ("timezone", TEXT),
    ("runs", RUNS),
    ("colour", TEXT),
)
RECUR = (QUEUE, JID, TEXT, DATA, ("interval",), NUMBER, NUMBER)

PUT = (WORKER, QUEUE, JID, TEXT, DATA, NUMBER)
SUBJECTS = ('["job","a"]', '["job","b"]', '["walk","work","q"]', "[]", '["job"]', "{}", "x")
KINDS = ("in-no-place", "entry-without-job", "orphan", "half-edge", "nonsense")

OPERATION = ("op", "op:list", "way")
RECURS = (
    "86a57175657565a171a66669656c647394a36a6964a172a57175657565a171a477686174a57265637572"
    "a472756e7390a7706c616e6e6564a0a573636f7265a135"
)
#: Of a recurring job, of one without its fields, of something else, and of no job at all.
LUGGAGE = (
    RECURS,
    "82a477686174a36a6f62a66669656c647390",
    "82a477686174a57265637572a66669656c647390",
    "81a66669656c647301",
    "c0",
    "7",
    "zz",
)

#: Command -> what its arguments are drawn from, mostly; then what more of them are, or options.
SHAPES = {
    "put": PUT,
    "requeue": PUT,
    "put.new": PUT,
    "get": (JID,),
    "multiget": (JID, JID),
    "pop": (QUEUE, WORKER, NUMBER),
    "wait.pop": (WORKER, NUMBER, (*WORKER, ""), GROUP, ("all", "marked"), QUEUE, QUEUE),
    "wait.look": (WORKER, GROUP, QUEUE, QUEUE),
    "wait.leave": (WORKER, GROUP),
    "wait.wake": (WORKER,),
    "peek": (QUEUE, NUMBER),
    "heartbeat": (JID, WORKER, DATA),
    "complete": (JID, WORKER, QUEUE, DATA),
    "fail": (JID, WORKER, GROUP, TEXT, DATA),
    "retry": (JID, QUEUE, WORKER, NUMBER, GROUP, TEXT),
    "giveback": (JID, WORKER, ("0", "1"), TEXT, ("{}", '{"pid":1}'), GROUP, TEXT),
    "giveback.all": (WORKER, TEXT, ("{}", '{"pid":1}'), LIST, GROUP, TEXT),
    "failed": (GROUP, NUMBER, NUMBER),
    "unfail": (QUEUE, GROUP, NUMBER),
    "cancel": (JID, JID, JID),
    "jobs": (("complete", *LISTS[2:7]), QUEUE, NUMBER, NUMBER),
    "depends": (JID, ("on", "strict", "off"), JID, JID),
    "timeout": (JID,),
    "priority": (JID, NUMBER),
    "tag": (("add", "remove", "get", "top"), JID, TEXT, NUMBER),
    "track": (("track", "untrack"), JID),
    "log": (JID, TEXT, DATA),
    "queues": (QUEUE,),
    "length": (QUEUE,),
    "workers": (WORKER,),
    "worker.deregister": (WORKER, WORKER),
    "worker.beat": (WORKER, ("{}", '{"started":1,"state":"paused","children":[{"name":"w"}]}')),
    "worker.ask": (WORKER, ("stop", "pause", "resume")),
    "worker.info": (WORKER, WORKER),
    "progress": (JID, WORKER, NUMBER, ("total", "note"), NUMBER),
    "progress.get": (JID,),
    "pause": (QUEUE,),
    "unpause": (QUEUE,),
    "queue.forget": (QUEUE,),
    "stats": (QUEUE, NUMBER),
    "config.get": (CONFIG,),
    "config.set": (CONFIG, (*NUMBER, *RATES)),
    "config.unset": (CONFIG,),
    "recur": RECUR,
    "recur.get": (JID,),
    "recur.update": (JID,),
    "recur.tag": (JID, TEXT, TEXT),
    "recur.untag": (JID, TEXT),
    "recur.next": (JID,),
    "recur.pause": (JID,),
    "recur.unpause": (JID,),
    "recur.run": (JID,),
    "reschedule": (("delay", "at"), NUMBER, JID, JID),
    "edit": (JID, ("data", "retries"), ("", "0f"), (*DATA, *NUMBER)),
    "unrecur": (JID,),
    "cron": (QUEUE, JID, TEXT, DATA, TEXT, TEXT, RUNS),
    "cron.due": (NUMBER, NUMBER),
    "cron.refill": (JID, TEXT, TEXT, ("300", "6000", *NUMBER), RUNS),
    "bulk.move": (GROUP, QUEUE, JID, STATES, JID, STATES),
    "bulk.cancel": (GROUP, JID, STATES, JID, STATES),
    "bulk.put": (WORKER, QUEUE, NUMBER, *(JID, TEXT, DATA, NUMBER, NUMBER) * 2),
    "bulk.complete": (WORKER, (*QUEUE, ""), NUMBER, JID, QUEUE, DATA, JID, QUEUE, DATA),
    "complete.pop": (QUEUE, NUMBER, JID, WORKER, QUEUE, DATA),
    "turn": (WORKER, NUMBER, (1, 2), QUEUE, JID, QUEUE, DATA, JID, QUEUE, DATA),
    "jobs.walk": (LISTS, (*QUEUE, ""), NUMBER, NUMBER, JID),
    "archive.next": (TEXT, NUMBER, NUMBER),
    "archive.done": (TEXT, ("", "1 a"), ("1 a", "2 b", "x")),
    "throttle.set": (THROTTLE, NUMBER, (*NUMBER, "-1")),
    "throttle.get": (THROTTLE,),
    "throttle.locks": (THROTTLE,),
    "throttle.pending": (THROTTLE,),
    "throttle.ttl": (THROTTLE,),
    "throttle.release": (THROTTLE, JID, JID),
    "throttle.delete": (THROTTLE,),
    "queue.throttle.get": (QUEUE,),
    "queue.throttle.set": (QUEUE, NUMBER),
    "once.next": (TEXT, NUMBER, NUMBER, ("put", "pop", "pause", "once", "frob"), *PUT),
    "once": (TEXT, ("put", "pop", "pause", "once", "frob"), *PUT),
    "audit.scan": (NUMBER, NUMBER),
    "audit.walk": (LISTS, QUEUE, NUMBER, NUMBER),
    "audit.look": (SUBJECTS, SUBJECTS),
    "audit.repair": (KINDS, ("clean", "requeue", "fail", "delete"), SUBJECTS),
    "bulk.closure": (JID, JID),
    "bulk.states": (GROUP, NUMBER, NUMBER),
    "operation.freeze": (
        OPERATION,
        ("group", "more", "list", "jids", "needed"),
        (*GROUP, *JID, *OPERATION),
        (*JID, "", "5"),
        (*NUMBER, *JID),
    ),
    "operation.look": (OPERATION, NUMBER, NUMBER, NUMBER),
    "operation.fare": (OPERATION, NUMBER, NUMBER),
    "operation.step": (OPERATION, NUMBER, NUMBER, NUMBER, DATA, DATA),
    "operation.start": (OPERATION, NUMBER),
    "operation.undo": (OPERATION,),
    "operation.rest": (OPERATION, ("paused", "stopped"), TEXT),
    "shard.leave": (OPERATION, JID),
    "shard.arrive": (OPERATION, JID, LUGGAGE),
    "shard.settle": (OPERATION, JID),
    "shard.leaving": (NUMBER,),
}

#: Without these there is nothing for the others to act on.
OFTEN = ("put", "pop", "recur", "fail", "retry", "complete")

ANYTHING = st.sampled_from(
    sorted({text for pool in (JID, TEXT, NUMBER, LIST, DATA, STATES) for text in pool})
)


def drawn_from(pool):
    """Draw a text of a pool, now and then any other."""
    usual = st.sampled_from(pool)
    return st.one_of(*[usual] * 15, ANYTHING)


@st.composite
def calls(draw):
    """Draw a command, a moment and arguments, mostly as many as it takes."""
    command = draw(st.sampled_from([*sorted(SHAPES), *OFTEN * 5]))
    arguments = [draw(drawn_from(pool)) for pool in SHAPES[command]]
    if command in {"put", "put.new", "requeue", "complete", "recur", "recur.update", "cron"}:
        for name, pool in draw(st.lists(st.sampled_from(OPTIONS), max_size=3)):
            arguments += [name, draw(drawn_from(pool))]
    arguments = arguments[: draw(st.sampled_from([0, 1, 2, 3] + [99] * 40))]
    return command, draw(st.sampled_from(MOMENT)), *arguments


def test_every_command_is_drawn():
    assert SHAPES.keys() == BAD_CALLS.keys()


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(calls(), min_size=20, max_size=60))
def test_no_call_breaks_the_script_or_writes_and_refuses(redis, lua, made):
    redis.flushdb()
    before = {}
    for call in made:
        try:
            lua(*call)
        except ResponseError as error:
            answer = str(error)
        else:
            answer = None
            before = lua.stored()
        assert answer is None or REFUSAL.fullmatch(answer), (call, answer)
        assert answer is None or lua.stored() == before, call
