"""Bad calls: for each command, arguments (behind `now`) that it refuses, and what it complains of.

The jobs of `test_malformed.py` exist: `run` runs with worker `w`, `wait` waits, `rec` recurs.
"""

from __future__ import annotations

PUT = ("w", "q", "wait", "K", "{}", 0)
RECUR = ("q", "r", "K", "{}", "interval", 60, 0)
CRON = ("q", "c", "K", "{}", "* * * * *", "UTC", "[200]")
REFILL = ("c", "* * * * *", "UTC", 200, "[260]")


def without(arguments, *more):
    """Make the calls that end before each argument, with the name each one then misses."""
    return [(arguments[:position], name) for position, name in enumerate(more)]


def instead(arguments, position, *values):
    """Make the calls with one argument replaced by each of the values."""
    return [(*arguments[:position], value, *arguments[position + 1 :]) for value in values]


NOT_NUMBERS = ("", "abc", "1,5", "nan", "inf", "-inf", "1e400", "5x")
NOT_WHOLE = (*NOT_NUMBERS, "1.5")
NOT_COUNTS = (*NOT_WHOLE, "-1")
NOT_JSON = ("", "{", "{'a':1}", "[1,]", "hello", '{"a":1}x', '"\\ud800"', "[" * 1001 + "]" * 1001)
NOT_RUNS = (*NOT_JSON[:5], "5", "{}", "[]", "[null]", "[1.5]", "[-1]", "[2,1]", "[1,1]", "[1e12]")
NOT_STRINGS = (
    *NOT_JSON[:5],
    "null",
    "5",
    "true",
    '"x"',
    '{"a":1}',
    "[1,2]",
    '["x",null]',
    '[["x"]]',
)

#: Numbers are tags, too.
NOT_TAGS = (*(value for value in NOT_STRINGS if value != "[1,2]"), "[1e400]", "[nan]", "[true]")
NOT_RETRIES = (*NOT_WHOLE, "1000000001", "-1e10", "1e300")

NOT_CURSORS = ("", "-1", "1.5", "x", " 1", "0x1", "1" * 21)
NOT_SUBJECTS = (
    *NOT_STRINGS,
    "[]",
    '["job"]',
    '["nothing","wait"]',
    '["entry","work","q"]',
    '["entry","nowhere","q","wait"]',
)

#: Names that no throttle can have, as the keys of another one end in them.
NO_THROTTLES = [(("",), "throttle"), (("t-locks",), "throttle"), (("t-pending",), "throttle")]

PUT_OPTIONS = [
    *[((*PUT, "priority", value), "priority") for value in NOT_NUMBERS],
    *[((*PUT, "retries", value), "retries") for value in NOT_RETRIES],
    *[((*PUT, "tags", value), "tags") for value in NOT_TAGS],
    *[((*PUT, "depends", value), "depends") for value in NOT_STRINGS],
    *[((*PUT, "at", value), "at") for value in NOT_NUMBERS],
    *[((*PUT, "strict", value), "strict") for value in NOT_COUNTS],
    *[((*PUT, "heartbeat", value), "heartbeat") for value in (*NOT_NUMBERS, "-1")],
    ((*PUT, "priority"), "priority"),
    ((*PUT, "priority", 1, "tags"), "tags"),
    ((*PUT, "depends", '["wait"]'), "itself"),
]

#: Command -> [(arguments, a word of the complaint)].
BAD_CALLS = {
    "put": [
        *without(PUT, "me", "queue", "jid", "klass", "data", "delay"),
        *[(call, "queue") for call in instead(PUT, 1, "")],
        *[(call, "jid") for call in instead(PUT, 2, "")],
        *[(call, "data") for call in instead(PUT, 4, *NOT_JSON)],
        *[(call, "delay") for call in instead(PUT, 5, *NOT_NUMBERS)],
        *PUT_OPTIONS,
    ],
    "requeue": [
        *without(PUT, "me", "queue", "jid", "klass", "data", "delay"),
        *[(call, "data") for call in instead(PUT, 4, *NOT_JSON)],
        *PUT_OPTIONS,
    ],
    "put.new": [
        *without(PUT, "me", "queue", "jid", "klass", "data", "delay"),
        *[(call, "data") for call in instead(PUT, 4, *NOT_JSON)],
        *PUT_OPTIONS[:-1],
    ],
    "get": [((), "jid"), (("",), "jid")],
    "multiget": [((), "jid"), (("wait", ""), "jid")],
    "pop": [
        *without(("q", "w", 1), "queue", "worker", "count"),
        (("", "w", 1), "queue"),
        (("q", "", 1), "worker"),
        *[(("q", "w", value), "count") for value in NOT_COUNTS],
    ],
    "peek": [
        *without(("q", 1), "queue", "count"),
        *[(("q", value), "count") for value in NOT_COUNTS],
    ],
    "heartbeat": [
        *without(("run", "w"), "jid", "worker"),
        (("run", ""), "worker"),
        *[(("run", "w", value), "data") for value in NOT_JSON],
    ],
    "complete": [
        *without(("run", "w", "q", "{}"), "jid", "worker", "queue", "data"),
        *[(("run", "w", "q", value), "data") for value in NOT_JSON],
        *[(("run", "w", "q", "{}", "next", "n", "delay", value), "delay") for value in NOT_NUMBERS],
        *[
            (("run", "w", "q", "{}", "next", "n", "depends", value), "depends")
            for value in NOT_STRINGS
        ],
        (("run", "w", "q", "{}", "next", "n", "depends", '["run"]'), "itself"),
        *[
            (("run", "w", "q", "{}", "next", "n", "strict", value), "strict")
            for value in NOT_COUNTS
        ],
        (("run", "w", "q", "{}", "next", ""), "next"),
        (("run", "w", "q", "{}", "next"), "next"),
        (("run", "w", "q", "{}", "delay", 5), "next"),
        (("run", "w", "q", "{}", "depends", "[]"), "next"),
    ],
    "fail": [
        *without(("run", "w", "g", "m"), "jid", "worker", "group", "message"),
        *[(("run", "w", "g", "m", value), "data") for value in NOT_JSON],
    ],
    "retry": [
        *without(("run", "q", "w"), "jid", "queue", "worker"),
        *[(("run", "q", "w", value), "delay") for value in NOT_NUMBERS],
    ],
    "giveback": [
        *without(("run", "w", 0, "died", "{}"), "jid", "worker", "ran", "what", "details"),
        *[(("run", "w", value, "died", "{}"), "ran") for value in (*NOT_COUNTS, "2", "01")],
        (("run", "w", 0, "", "{}"), "what"),
        *[(("run", "w", 0, "died", value), "details") for value in (*NOT_JSON, "[]", "5")],
    ],
    "giveback.all": [
        *without(("w", "died", "{}", "[]"), "worker", "what", "details", "started"),
        (("", "died", "{}", "[]"), "worker"),
        (("w", "", "{}", "[]"), "what"),
        *[(("w", "died", value, "[]"), "details") for value in (*NOT_JSON, "[]", "5")],
        *[(("w", "died", "{}", value), "started") for value in NOT_STRINGS],
    ],
    "failed": [
        *[(("g", value), "start") for value in NOT_COUNTS],
        *[(("g", 0, value), "limit") for value in NOT_COUNTS],
    ],
    "unfail": [
        *without(("q", "g"), "queue", "group"),
        *[(("q", "g", value), "count") for value in NOT_COUNTS],
    ],
    "cancel": [((), "jid"), (("wait", ""), "jid")],
    "jobs": [
        ((), "state"),
        (("waiting", "q"), "state"),
        (("running",), "queue"),
        *[(("complete", value), "offset") for value in NOT_COUNTS],
        *[(("complete", 0, value), "count") for value in NOT_COUNTS],
        *[
            ((state, "q", *arguments), name)
            for state in ("running", "stalled", "scheduled", "depends", "recurring")
            for arguments, name in (
                *[((value,), "offset") for value in NOT_COUNTS],
                *[((0, value), "count") for value in NOT_COUNTS],
            )
        ],
    ],
    "depends": [
        ((), "jid"),
        (("wait",), "switch"),
        (("wait", "sideways", "run"), "switch"),
        (("wait", "on"), "jid"),
        (("wait", "on", ""), "jid"),
        (("wait", "off"), "jid"),
        (("wait", "on", "wait"), "itself"),
        (("wait", "strict"), "jid"),
        (("wait", "strict", ""), "jid"),
    ],
    "timeout": [((), "jid"), (("run", ""), "jid")],
    "priority": [
        *without(("wait", 1), "jid", "priority"),
        *[(("wait", value), "priority") for value in NOT_NUMBERS],
    ],
    "tag": [
        ((), "action"),
        (("frob", "wait"), "action"),
        (("add",), "jid"),
        (("add", "wait"), "tag"),
        (("remove",), "jid"),
        (("remove", "wait"), "tag"),
        (("get",), "tag"),
        *[(("get", "t", value), "offset") for value in NOT_COUNTS],
        *[(("get", "t", 0, value), "count") for value in NOT_COUNTS],
        (("get", "t", 0, 5, "sideways"), "order"),
        *[(("top", value), "offset") for value in NOT_COUNTS],
        *[(("top", 0, value), "count") for value in NOT_COUNTS],
    ],
    "track": [(("track",), "jid"), (("untrack", ""), "jid"), (("frob", "wait"), "action")],
    "log": [
        *without(("wait", "m"), "jid", "message"),
        *[(("wait", "m", value), "data") for value in (*NOT_JSON, "5", "[]", "null", '"x"')],
    ],
    "queues": [(("",), "queue")],
    "length": [((), "queue"), (("",), "queue")],
    "workers": [(("",), "worker")],
    "worker.deregister": [((), "worker"), (("w", ""), "worker")],
    "worker.beat": [
        *without(("w", "{}"), "worker", "info"),
        (("", "{}"), "worker"),
        *[(("w", value), "info") for value in (*NOT_JSON, "[]", "5", '{"pid":01}')],
    ],
    "worker.ask": [
        *without(("w", "stop"), "worker", "request"),
        (("", "stop"), "worker"),
        *[(("w", value), "request") for value in ("", "Stop", "kill", "1")],
    ],
    "worker.info": [((), "worker"), (("w", ""), "worker")],
    "progress": [
        *without(("run", "w", 1), "jid", "worker", "done"),
        *[(("run", "w", value), "done") for value in (*NOT_NUMBERS, "-1")],
        *[(("run", "w", 1, "total", value), "total") for value in (*NOT_NUMBERS, "-1")],
        (("run", "w", 1, "note"), "note"),
    ],
    "progress.get": [((), "jid"), (("",), "jid")],
    "pause": [((), "queue"), (("q", ""), "queue")],
    "unpause": [((), "queue"), (("q", ""), "queue")],
    "queue.forget": [((), "queue"), (("q", ""), "queue")],
    "stats": [
        *without(("q", 0), "queue", "date"),
        *[(("q", value), "date") for value in NOT_NUMBERS],
    ],
    "config.get": [(("",), "key")],
    "config.set": [*without(("key", "value"), "key", "value"), (("", "value"), "key")],
    "config.unset": [((), "key"), (("",), "key")],
    "recur": [
        *without(RECUR, "queue", "jid", "klass", "data", "spec", "interval", "offset"),
        (instead(RECUR, 4, "cron")[0], "spec"),
        *[(call, "data") for call in instead(RECUR, 3, *NOT_JSON)],
        *[(call, "interval") for call in instead(RECUR, 5, *NOT_NUMBERS, "0", "-1")],
        *[(call, "offset") for call in instead(RECUR, 6, *NOT_NUMBERS)],
        *[((*RECUR, "priority", value), "priority") for value in NOT_NUMBERS],
        *[((*RECUR, "retries", value), "retries") for value in NOT_RETRIES],
        *[((*RECUR, "backlog", value), "backlog") for value in NOT_COUNTS],
        *[((*RECUR, "tags", value), "tags") for value in NOT_TAGS],
        ((*RECUR, "tags"), "tags"),
    ],
    "cron": [
        *without(CRON, "queue", "jid", "klass", "data", "expression", "timezone", "runs"),
        *[(call, "queue") for call in instead(CRON, 0, "")],
        *[(call, "jid") for call in instead(CRON, 1, "")],
        *[(call, "data") for call in instead(CRON, 3, *NOT_JSON)],
        *[(call, "expression") for call in instead(CRON, 4, "")],
        *[(call, "timezone") for call in instead(CRON, 5, "")],
        *[(call, "runs") for call in instead(CRON, 6, *NOT_RUNS)],
        *[((*CRON, "priority", value), "priority") for value in NOT_NUMBERS],
        *[((*CRON, "retries", value), "retries") for value in NOT_RETRIES],
        *[((*CRON, "backlog", value), "backlog") for value in NOT_COUNTS],
        *[((*CRON, "tags", value), "tags") for value in NOT_TAGS],
        ((*CRON, "tags"), "tags"),
    ],
    "cron.due": [
        *[((value,), "count") for value in NOT_COUNTS],
        *[((5, value), "offset") for value in NOT_COUNTS],
    ],
    "cron.refill": [
        *without(REFILL, "jid", "expression", "timezone", "planned", "runs"),
        *[(call, "planned") for call in instead(REFILL, 3, *NOT_NUMBERS)],
        *[(call, "runs") for call in instead(REFILL, 4, *NOT_RUNS, "[200]")],
    ],
    "recur.next": [((), "jid"), (("",), "jid")],
    "recur.pause": [((), "jid"), (("",), "jid")],
    "recur.unpause": [((), "jid"), (("",), "jid")],
    "recur.run": [((), "jid"), (("",), "jid")],
    "reschedule": [
        *without(("delay", 5, "wait"), "spec", "when", "jid"),
        (("soon", 5, "wait"), "spec"),
        (("at", 5, "wait", ""), "jid"),
        *[(("at", value, "wait"), "when") for value in NOT_NUMBERS],
    ],
    "edit": [
        *without(("wait", "data", "", "{}"), "jid", "field", "shown", "new"),
        (("", "data", "", "{}"), "jid"),
        (("wait", "state", "", "{}"), "field"),
        (("wait", "data", "XYZ", "{}"), "shown"),
        *[(("wait", "data", "", value), "new") for value in NOT_JSON],
        *[(("wait", "retries", "", value), "new") for value in (*NOT_NUMBERS, "-1")],
        *[(("wait", "retries", "", value), "retries") for value in ("1.5", "1000000001")],
    ],
    "recur.get": [((), "jid"), (("",), "jid")],
    "recur.update": [
        ((), "jid"),
        (("rec", "priority"), "priority"),
        (("rec", "colour", "red"), "colour"),
        *[(("rec", "priority", value), "priority") for value in NOT_NUMBERS],
        *[(("rec", "interval", value), "interval") for value in (*NOT_NUMBERS, "0", "-60")],
        *[(("rec", "retries", value), "retries") for value in NOT_RETRIES],
        *[(("rec", "backlog", value), "backlog") for value in NOT_COUNTS],
        *[(("rec", "data", value), "data") for value in NOT_JSON],
        (("rec", "queue", ""), "queue"),
        (("rec", "cron", ""), "cron"),
        (("rec", "timezone", ""), "timezone"),
        (("rec", "cron", "* * * * *", "runs", "[200]"), "interval"),
        *[(("rec", "runs", value), "runs") for value in NOT_RUNS],
        (("rec", "priority", "5", "interval", "0"), "interval"),
    ],
    "bulk.move": [
        *without(("", "q"), "group", "queue"),
        (("", "q"), "pairs"),
        (("", "q", "wait"), "pairs"),
        (("", "q", "", "waiting"), "jid"),
    ],
    "bulk.cancel": [
        ((), "group"),
        (("",), "pairs"),
        (("", "wait"), "pairs"),
        (("", "", ""), "jid"),
    ],
    "bulk.put": [
        *without(("w", "q", 0), "me", "queue", "first"),
        (("w", "q", 0), "jid"),
        *[(("w", "q", value, "j", "K", "{}", 0, 0), "first") for value in NOT_COUNTS],
        *[
            (("w", "q", 0, "j", "K", "{}", 0, value), "options")
            for value in (*NOT_COUNTS, "1", "2", "4")
        ],
        (("w", "q", 0, "j", "K", "{}", 0, 4, "priority", 1), "options"),
        (("w", "q", 0, "j", "K", "{}", 0, 0, "k", "K"), "options"),
        (("w", "q", 7, "j", "K", "{}", 0, 0, "", "K", "{}", 0, 0), "job 8: argument"),
        *[
            (("w", "q", 0, "j", "K", "{}", 0, 0, "k", "K", value, 0, 0), "job 1: argument")
            for value in NOT_JSON
        ],
        *[(("w", "q", 0, "j", "K", "{}", value, 0), "delay") for value in NOT_NUMBERS],
        *[
            (("w", "q", 0, *PUT[2:], len(call) - len(PUT), *call[len(PUT) :]), word)
            for call, word in PUT_OPTIONS
            if (len(call) - len(PUT)) % 2 == 0
        ],
        (
            (
                *("w", "q", 0),
                *("a", "K", "{}", 0, 2, "depends", '["b"]'),
                *("b", "K", "{}", 0, 2, "depends", '["a"]'),
            ),
            "job 1: Job b cannot depend on a, which waits for it: b -> a -> b",
        ),
    ],
    "bulk.complete": [
        *without(("w", "", 0), "worker", "next", "delay"),
        (("w", "", 0), "jid"),
        (("", "", 0, "run", "q", "{}"), "worker"),
        *[(("w", "n", value, "run", "q", "{}"), "delay") for value in NOT_NUMBERS],
        (("w", "", 5, "run", "q", "{}"), "next"),
        (("w", "", 0, "run"), "queue"),
        (("w", "", 0, "run", "q"), "data"),
        (("w", "", 0, "run", "q", "{}", "wait"), "queue"),
        *[(("w", "", 0, "run", "q", "{}", "x", "q", value), "data") for value in NOT_JSON],
    ],
    "wait.pop": [
        *without(
            ("w", 1, "a", "g", "all", "q"), "worker", "count", "waiter", "group", "where", "queue"
        ),
        (("", 1, "a", "g", "all", "q"), "worker"),
        *[(("w", value, "a", "g", "all", "q"), "count") for value in NOT_COUNTS],
        (("w", 1, "a", "", "all", "q"), "group"),
        (("w", 1, "a", "g", "some", "q"), "where"),
        (("w", 1, "a", "g", "all", "q", ""), "queue"),
        (("w", 1, "a", "g", "all", *map(str, range(1001))), "queues"),
    ],
    "wait.look": [
        *without(("a", "g", "q"), "waiter", "group", "queue"),
        (("", "g", "q"), "waiter"),
        (("a", "", "q"), "group"),
        (("a", "g", "q", ""), "queue"),
        (("a", "g", *map(str, range(1001))), "queues"),
    ],
    "wait.leave": [*without(("a", "g"), "waiter", "group"), (("", "g"), "waiter")],
    "wait.wake": [((), "waiter"), (("",), "waiter")],
    "complete.pop": [
        *without(
            ("q", 1, "run", "w", "q", "{}"), "from", "count", "jid", "worker", "queue", "data"
        ),
        (("", 1, "run", "w", "q", "{}"), "from"),
        *[(("q", value, "run", "w", "q", "{}"), "count") for value in NOT_COUNTS],
        *[(("q", 1, "run", "w", "q", value), "data") for value in NOT_JSON],
        (("q", 1, "run", "w", "q", "{}", "delay", 5), "next"),
    ],
    "turn": [
        *without(("w", 1, 1, "q"), "worker", "count", "number", "queue"),
        *[(("w", value, 1, "q"), "count") for value in NOT_COUNTS],
        *[(("w", 1, value, "q"), "number") for value in (*NOT_COUNTS, 0, 1001)],
        (("", 1, 1, "q"), "worker"),
        (("w", 1, 2, "q", ""), "queue"),
        (("w", 1, 1, "q", "run", "q"), "data"),
        *[(("w", 1, 1, "q", "run", "q", value), "data") for value in NOT_JSON],
    ],
    "jobs.walk": [
        ((), "list"),
        (("failed", "q", 5), "list"),
        (("waiting",), "name"),
        *[(("waiting", "q", value), "count") for value in NOT_COUNTS],
        *[
            (("waiting", "q", 5, value, "j"), "score")
            for value in NOT_NUMBERS
            if value not in {"inf", "-inf"}
        ],
        (("waiting", "q", 5, "1"), "jid"),
    ],
    "archive.next": [
        *without(("n", 0, 1), "name", "settle", "count"),
        (("", 0, 1), "name"),
        *[(("n", value, 1), "settle") for value in NOT_NUMBERS],
        *[(("n", 0, value), "count") for value in NOT_COUNTS],
    ],
    "archive.done": [
        *without(("n", "", "1 j"), "name", "from", "to"),
        (("", "", "1 j"), "name"),
        *[(("n", "", value), "to") for value in ("", "j", "1", "1 ", "x j", "nan j")],
    ],
    "bulk.closure": [((), "jid"), (("wait", ""), "jid")],
    "bulk.states": [
        *without(("g", 0, 1), "group", "start", "count"),
        *[(("g", value, 1), "start") for value in NOT_COUNTS],
        *[(("g", 0, value), "count") for value in NOT_COUNTS],
    ],
    "throttle.set": [
        *without(("t", 5), "throttle", "maximum"),
        *NO_THROTTLES,
        *[(("t", value), "maximum") for value in NOT_COUNTS],
        *[(("t", 5, value), "expiry") for value in (*NOT_WHOLE, "-2")],
    ],
    "throttle.get": [((), "throttle"), *NO_THROTTLES],
    "throttle.locks": [((), "throttle"), *NO_THROTTLES],
    "throttle.pending": [((), "throttle"), *NO_THROTTLES],
    "throttle.ttl": [((), "throttle"), *NO_THROTTLES],
    "throttle.release": [*without(("t", "wait"), "throttle", "jid"), *NO_THROTTLES],
    "throttle.delete": [((), "throttle"), *NO_THROTTLES],
    "queue.throttle.get": [((), "queue"), (("",), "queue")],
    "queue.throttle.set": [
        *without(("q", 5), "queue", "maximum"),
        (("", 5), "queue"),
        *[(("q", value), "maximum") for value in NOT_COUNTS],
    ],
    "audit.scan": [
        *without((0, 10), "cursor", "count"),
        *[((value, 10), "cursor") for value in NOT_CURSORS],
        *[((0, value), "count") for value in (*NOT_COUNTS, "0")],
    ],
    "audit.walk": [
        *without(("work", "q", 0, 10), "place", "name", "cursor", "count"),
        (("nowhere", "q", 0, 10), "place"),
        *[(("work", "q", value, 10), "cursor") for value in NOT_CURSORS],
        *[(("work", "q", 0, value), "count") for value in (*NOT_COUNTS, "0")],
    ],
    "once": [
        ((), "id"),
        (("",), "id"),
        (("request",), "command"),
        (("request", "frob"), "command"),
        (("request", "once", "other", "pause", "q"), "command"),
    ],
    "once.next": [
        *without(("sender", 1, 60, "pause"), "sender", "number", "seconds", "command"),
        (("", 1, 60, "pause", "q"), "sender"),
        *[(("sender", value, 60, "pause", "q"), "number") for value in NOT_COUNTS],
        *[(("sender", 1, value, "pause", "q"), "seconds") for value in (*NOT_NUMBERS, "0", "-1")],
        (("sender", 1, 60, "frob"), "command"),
        (("sender", 1, 60, "once", "other", "pause", "q"), "command"),
        (("sender", 1, 60, "once.next", "other", 1, 60, "pause", "q"), "command"),
    ],
    "audit.look": [
        ((), "subject"),
        *[((value,), "subject") for value in NOT_SUBJECTS],
        (('["job","wait"]', "[]"), "subject"),
    ],
    "audit.repair": [
        *without(("in-no-place", "requeue", '["job","wait"]'), "kind", "how", "subject"),
        (("nothing", "clean", '["job","wait"]'), "kind"),
        (("in-no-place", "mend", '["job","wait"]'), "how"),
        *[(("in-no-place", "requeue", value), "subject") for value in NOT_SUBJECTS],
    ],
    "operation.freeze": [
        *without(("op", "group", "g", ""), "operation", "form", "group", "newest"),
        (("", "jids", "wait"), "operation"),
        (("op", "all", "wait"), "form"),
        (("op", "list", ""), "other"),
        *[(("op", "more", "g", value), "size") for value in NOT_COUNTS],
        *[(("op", "group", "g", "", 0, value), "before") for value in NOT_NUMBERS],
        (("op", "jids"), "jid"),
        *[(("op", "group", "g", "", value), "count") for value in NOT_COUNTS],
    ],
    "operation.look": [
        *without(("op", 0), "operation", "from"),
        (("nothing", 0, 5), "operation"),
        *[(("op", value, 5), "from") for value in NOT_COUNTS],
        *[(("op", 0, value), "count") for value in NOT_COUNTS],
        *[(("op", 0, 5, value), "place") for value in NOT_COUNTS],
    ],
    "operation.step": [
        *without(("op", 1, 5), "operation", "run", "count"),
        *[(("op", value, 5, 1), "run") for value in NOT_COUNTS],
        *[(("op", 1, value, 1), "count") for value in NOT_COUNTS],
        *[(("op", 1, 5, value), "seconds") for value in (*NOT_NUMBERS, "0", "-1")],
    ],
    "operation.start": [
        *without(("op", 0), "operation", "run"),
        *[(("op", value), "run") for value in NOT_COUNTS],
    ],
    "operation.undo": [((), "operation"), (("",), "operation")],
    "operation.rest": [
        *without(("op", "paused"), "operation", "state", "why"),
        (("op", "running", ""), "state"),
    ],
    "operation.fare": [
        *without(("op", 0), "operation", "from"),
        (("nothing", 0, 5), "operation"),
        *[(("op", value, 5), "from") for value in NOT_COUNTS],
        *[(("op", 0, value), "count") for value in NOT_COUNTS],
    ],
    "shard.leave": [*without(("way", "wait"), "journey", "jid")],
    "shard.arrive": [
        *without(("way", "new", "00"), "journey", "jid", "luggage"),
        (("way", "new", "nonsense"), "luggage"),
        (("way", "new", "c0"), "luggage"),
    ],
    "shard.settle": [*without(("way", "wait"), "journey", "jid")],
    "shard.leaving": [((value,), "count") for value in NOT_COUNTS],
    "recur.tag": [((), "jid"), (("rec",), "tag")],
    "recur.untag": [((), "jid"), (("rec",), "tag")],
    "unrecur": [((), "jid"), (("",), "jid")],
}
