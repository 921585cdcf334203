from __future__ import annotations

import json

import pytest

LEGACY = [
    {"q": "first", "put": 10.5, "popped": 11.5, "failed": 12.5, "worker": "w-1"},
    {"q": "second", "put": 20, "popped": 21, "done": 22, "worker": "w-2"},
]
MODERN = [
    {"what": "put", "when": 10, "q": "first"},
    {"what": "popped", "when": 11, "worker": "w-1"},
    {"what": "failed", "when": 12},
    {"what": "put", "when": 20, "q": "second"},
    {"what": "popped", "when": 21, "worker": "w-2"},
    {"what": "done", "when": 22},
]


@pytest.fixture
def legacy(lua, redis):
    """Leave the job as an old client would have."""
    lua.put(30, "j")
    redis.hset("ql:j:j", "history", json.dumps(LEGACY))
    redis.delete("ql:j:j-history")
    return lua


def test_a_message_is_logged_with_its_object(lua):
    lua.put(1, "j")

    assert (
        lua("log", 2.9, "j", "progress", '{"done": 5, "of": [], "id": 12345678901234567}') is None
    )
    assert lua("log", 3, "j", "without") is None

    assert lua.job("j")["history"][1:] == [
        {"done": 5, "of": [], "id": 12345678901234567, "what": "progress", "when": 2},
        {"what": "without", "when": 3},
    ]


@pytest.mark.parametrize(
    "message", ['say "hi"', "back\\slash", "ü漢🙂", "a,b]", "", '\\"', "new\nline"]
)
def test_any_message_can_be_logged(lua, message):
    lua.put(1, "j")

    lua("log", 2, "j", message, ' { "a" : {} } ')
    lua("log", 3, "j", message)
    lua("log", 4, "j", message, "{}")

    assert lua.job("j")["history"][1:] == [
        {"a": {}, "what": message, "when": 2},
        {"what": message, "when": 3},
        {"what": message, "when": 4},
    ]


def test_a_missing_job_has_no_history(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("log", 1, "j", "m")


def test_the_first_item_and_the_newest_are_kept(lua):
    lua.put(1, "j")
    for number in range(150):
        lua("log", 2 + number, "j", f"m-{number}")

    history = lua.job("j")["history"]

    assert len(history) == 100
    assert history[0]["what"] == "put"
    assert [item["what"] for item in history[1:]] == [f"m-{number}" for number in range(51, 150)]


@pytest.mark.parametrize(("limit", "kept"), [(1, [0]), (2, [0, 9]), (5, [0, 6, 7, 8, 9])])
def test_the_length_is_an_option(lua, limit, kept):
    lua("config.set", 1, "max-job-history", limit)
    lua.put(0, "j")
    for number in range(1, 10):
        lua("log", number, "j", "m")

    assert [item["when"] for item in lua.job("j")["history"]] == kept


@pytest.mark.parametrize("limit", [0, -1])
def test_there_may_be_no_limit(lua, limit):
    lua("config.set", 1, "max-job-history", limit)
    lua.put(0, "j")
    for number in range(1, 150):
        lua("log", number, "j", "m")

    assert len(lua.job("j")["history"]) == 150


def test_a_lowered_limit_cuts_at_the_next_item(lua):
    lua.put(0, "j")
    for number in range(1, 20):
        lua("log", number, "j", "m")
    lua("config.set", 1, "max-job-history", 3)

    lua("log", 20, "j", "m")

    assert [item["when"] for item in lua.job("j")["history"]] == [0, 19, 20]


def test_the_reply_of_pop_shows_the_history_as_it_is_stored(lua):
    lua("config.set", 1, "max-job-history", 3)
    lua.put(1, "j")
    for number in range(2, 9):
        lua("log", number, "j", "m")

    (job,) = lua.pop(9)

    assert job["history"] == lua.job("j")["history"]
    assert [item["when"] for item in job["history"]] == [1, 8, 9]


def test_an_old_history_is_shown_without_a_write(legacy):
    before = legacy.stored()

    assert legacy.job("j")["history"] == MODERN
    assert legacy.stored() == before


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (("log", 40, "j", "m"), ["m"]),
        (("pop", 40, "q", "w", 1), ["popped"]),
        (("put", 40, "w", "q", "j", "K", "{}", 0), ["put"]),
    ],
)
def test_an_old_history_is_moved_when_it_is_touched(legacy, redis, call, what):
    reply = legacy(*call)

    history = legacy.job("j")["history"]
    assert history[: len(MODERN)] == MODERN
    assert [item["what"] for item in history[len(MODERN) :]] == what
    assert redis.hexists("ql:j:j", "history") is False
    if call[0] == "pop":
        assert json.loads(reply)[0]["history"] == history


def test_items_of_other_dialects_are_read(lua, redis):
    lua.put(1, "j")
    redis.rpush(
        "ql:j:j-history",
        '[5,"put",{"queue":"q"}]',
        '[6.7,"done"]',
        '[7,"done",null]',
        '[8,"done",[]]',
        '[ 9 , "spaced" , { "a" : 1 } ]',
        '[10,"odd",{"a":}]',
        "garbage",
        "[]",
        '["x","y","z"]',
        "\xff",
    )

    history = lua.job("j")["history"]

    assert history[1:6] == [
        {"queue": "q", "what": "put", "when": 5},
        {"what": "done", "when": 6},
        {"what": "done", "when": 7},
        {"what": "done", "when": 8},
        {"a": 1, "what": "spaced", "when": 9},
    ]
    assert len(history) == 11
    assert lua.popped(20) == ["j"]
