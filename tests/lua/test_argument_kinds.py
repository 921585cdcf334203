"""Each argument of each command, as the reference names them, against each kind of bad value.

What a kind refuses is refused by the argument's name, before anything is written or published; what
it takes is answered, or refused for another reason.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from tests.lua.conftest import REFUSAL, Lua

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"

#: Words of a call that stand for themselves, where they do.
LITERALS = {
    *("complete", "track", "untrack", "add", "remove", "get", "top", "interval"),
    *("on", "strict", "off", "all"),
}

#: Values of every kind of badness; what is written here in Latin-1 is no UTF-8.
VALUES = (
    *("", "abc", "nan", "inf", "-inf", "1e400", "9" * 400, "-1", "1.5", "1e300", "5"),
    *("\xff\xfe", "{", '"x"', "[1]", '["x"]', '{"a":1}', "null", "[]", "{}", "[1,]", '{"a":NaN}'),
)

#: What each kind takes of them; a name takes all but the empty one, and a text all.
TAKES = {
    "number": ("-1", "1.5", "1e300", "5"),
    "retries": ("-1", "5"),
    "count": ("1e300", "5"),
    "amount": ("1.5", "1e300", "5"),
    "positive": ("1.5", "1e300", "5"),
    "json": (
        *("nan", "inf", "-inf", "1e400", "9" * 400, "-1", "1.5", "1e300", "5", '"x"', "[1]"),
        *('["x"]', '{"a":1}', "null", "[]", "{}", '{"a":NaN}'),
    ),
    "object": ('{"a":1}', "{}"),
    "strings": ('["x"]', "[]", "{}"),
    "tags": ("[1]", '["x"]', "[]", "{}"),
    "choice": (),
}

#: Name of an argument -> its kind and a value that is good; of a command's own where they differ.
KINDS = {
    **dict.fromkeys(("jid", "queue", "worker", "key"), ("name", "wait")),
    **dict.fromkeys(("me", "klass", "group", "message", "value", "tag", "states"), ("text", "g")),
    **dict.fromkeys(("delay", "p", "date"), ("number", 0)),
    **dict.fromkeys(("count", "offset", "start", "limit"), ("count", 1)),
    "data": ("json", "{}"),
    "seconds": ("positive", 60),
    "order": ("choice", "open-first"),
    "state": ("choice", "running"),
    "ran": ("choice", 0),
    "what": ("name", "died"),
    **dict.fromkeys(("details", "info"), ("object", "{}")),
    "done": ("amount", 1),
    "request": ("choice", "stop"),
    "started": ("strings", "[]"),
}
OWN = {
    ("log", "data"): ("object", "{}"),
    ("recur", "offset"): ("number", 0),
    ("unfail", "group"): ("text", "nobody's"),
}

#: Where a command needs a job in another state than waiting.
JIDS = {
    **dict.fromkeys(
        ("heartbeat", "complete", "fail", "retry", "timeout", "giveback", "progress"), "run"
    ),
    **dict.fromkeys(("recur.get", "recur.update", "recur.tag", "recur.untag", "unrecur"), "rec"),
    **dict.fromkeys(("recur.pause", "recur.unpause", "recur.run"), "rec"),
    "recur": "rec",
}

#: What a complaint calls an argument that the reference has another name for.
CALLED = {"p": "priority", "seconds": "interval"}

#: Command -> its options and their kinds.
PUT = {
    "priority": "number",
    "retries": "retries",
    "tags": "tags",
    "depends": "strings",
    "throttles": "strings",
    "heartbeat": "positive",
    "at": "number",
    "strict": "count",
}
RECUR = {"priority": "number", "retries": "retries", "tags": "tags", "backlog": "count"}
OPTIONS = {
    "put": PUT,
    "requeue": PUT,
    "recur": {**RECUR, "keep-next-run": "count"},
    "recur.update": {
        **{name: kind for name, kind in RECUR.items() if name != "tags"},
        "interval": "positive",
        "data": "json",
        "queue": "name",
        "klass": "text",
    },
    "progress": {"total": "amount", "note": "text"},
    "complete": {"delay": "number", "depends": "strings", "next": "name"},
}

#: Commands whose arguments come in groups, or are of kinds of their own: their bad calls are all
#: written out, in `malformed.py`.
WRITTEN_OUT = (
    *("bulk.put", "bulk.complete", "bulk.move", "bulk.cancel", "complete.pop", "cron", "archive"),
    *("audit", "throttle", "queue.throttle", "jobs.walk", "recur.next", "once", "wait", "turn"),
    *("reschedule", "edit", "operation", "shard"),
)


def forms():
    """Read the calls that the reference tells of, as lists of words."""
    headings = re.findall(r"^### (.+)$", REFERENCE.read_text("utf-8"), re.MULTILINE)
    for form in (form for heading in headings for form in re.findall(r"`(.+?)`", heading)):
        words = re.sub(r"\[(?:option|key) value\]…", "", form)
        words = re.sub(r"[\[\]]", "", words).split()
        if not words[0].startswith(WRITTEN_OUT):
            yield tuple(words)


def is_known(form):
    names = [word.rstrip("?…") for word in form[1:]]
    return all(name in LITERALS or name in KINDS for name in names)


FORMS = sorted(filter(is_known, set(forms())))


def kind_of(command, word):
    name = word.rstrip("?…")
    return OWN.get((command, name)) or KINDS[name]


def good(command, word):
    """Give a value that the command takes there."""
    name = word.rstrip("?…")
    if name in LITERALS and name not in KINDS:
        return name
    if name == "jid":
        return JIDS.get(command, "wait")
    return {"queue": "q", "worker": "w"}.get(name, kind_of(command, word)[1])


def is_refused(kind, value):
    if kind in TAKES:
        return value not in TAKES[kind]
    return value == "" and kind == "name"


def instead(call, position, kind):
    """Make the calls with another value in one place, with whether each is refused."""
    for value in VALUES:
        yield (*call[:position], value, *call[position + 1 :]), is_refused(kind, value)


def of_form(form):
    """Make (call, name of the argument, whether it is refused) for the words of a call."""
    command = form[0]
    call = (command, *[good(command, word) for word in form[1:]])
    for position, word in enumerate(form[1:], 1):
        name = word.rstrip("?…")
        if name not in LITERALS:
            kind, _ = kind_of(command, word)
            for made, refused in instead(call, position, kind):
                yield made, name, refused
            if not word.endswith("?") and form[:position] not in FORMS:
                yield call[:position], name, True


def of_options(form):
    """Do so for the options of a call."""
    call = tuple(good(form[0], word) for word in form[1:])
    for option, kind in OPTIONS.get(form[0], {}).items():
        before = (
            form[0],
            *call,
            *(("next", "n") if form[0] == "complete" and option != "next" else ()),
        )
        for made, refused in instead((*before, option, "?"), len(before) + 1, kind):
            yield made, option, refused
        yield (*before, option), option, True


CASES = [
    (form[0], *case) for form in FORMS for made in (of_form, of_options) for case in made(form)
]


def test_every_argument_has_a_kind():
    strange = sorted({" ".join(form) for form in forms() if not is_known(form)})

    assert strange == [], "give their arguments a kind, or write their bad calls out"


@pytest.fixture
def lua(server, redis, script):  # noqa: ARG001 - `redis` empties the server
    """Call the script with text that need not be UTF-8."""
    with Redis.from_url(server.url, decode_responses=True, encoding="latin-1") as latin:
        lua = Lua(latin, script)
        yield lua
        lua.close()


@pytest.fixture
def state(lua, redis):
    """Fill the server with one job of each sort; answers what does it again."""

    def fill():
        redis.flushdb()
        lua.put(1, "run")
        lua.pop(2)
        lua.put(3, "wait")
        lua("recur", 4, "q", "rec", "K", "{}", "interval", 60, 1000)
        return lua.stored()

    return fill


@pytest.mark.parametrize("command", sorted({command for command, *_ in CASES}))
def test_every_argument_is_checked_by_its_kind_before_anything_is_written(lua, state, command):
    before = state()
    for call, name, refused in [case[1:] for case in CASES if case[0] == command]:
        with lua.hearing() as heard:
            answer = ask(lua, call)
        called = CALLED.get(name, name)
        if refused:
            assert answer.startswith("BAD_ARGUMENT user_script:"), (call, answer)
            assert f'"{called}"' in answer, (call, answer)
        else:
            assert f'argument "{called}"' not in answer, (call, answer)
        if answer:
            assert REFUSAL.fullmatch(answer), (call, answer)
            assert heard == [], call
            assert lua.stored() == before, call
        else:
            before = state()


def ask(lua, call):
    """Make a call; answers what it was refused with, "" when it was not."""
    try:
        lua(call[0], 100, *call[1:])
    except ResponseError as error:
        return str(error)
    return ""
