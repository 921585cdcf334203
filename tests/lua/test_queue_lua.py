from __future__ import annotations

import pytest


@pytest.fixture
def busy(lua):
    """Make a queue with something in every place, at 100."""
    lua.put(1, "parent")
    lua.put(2, "depends", "depends", '["parent"]')
    lua.put(3, "stalled", "priority", 9)
    lua.pop(4)
    lua.put(90, "running", "priority", 9)
    lua("config.set", 90, "grace-period", 1000)
    lua.put(91, "due", delay=5)
    lua.put(92, "later", delay=50)
    lua("recur", 93, "q", "recurring", "K", "{}", "interval", 60, 500)
    return lua


def test_counts_tell_what_a_pop_would_find(busy):
    busy.put(99, "other", queue="p")
    busy.pop(60, queue="p")
    before = busy.stored()

    counts = busy.json("queues", 100, "q")

    assert counts == {
        "name": "q",
        "waiting": 3,
        "running": 0,
        "stalled": 1,
        "scheduled": 1,
        "depends": 1,
        "recurring": 1,
        "paused": False,
    }
    assert busy.json("queues", 100)[0] == counts
    assert busy.json("queues", 50, "q")["running"] == 1
    assert busy.stored() == before


def test_queues_are_listed_in_the_order_they_were_seen(lua):
    for number, name in enumerate(["z", "a", "m"]):
        lua.put(number, name, queue=name)
    lua.put(9, "again", queue="z")

    assert [queue["name"] for queue in lua.json("queues", 10)] == ["z", "a", "m"]


def test_b14_no_queues_are_an_empty_list(lua):
    assert lua("queues", 1) == "[]"


def test_the_length_of_a_queue(busy):
    assert busy("length", 100, "q") == 5
    assert busy("length", 100, "unknown") == 0


def test_pausing(lua):
    lua.put(1, "j")
    assert lua("pause", 2, "q", "unknown") is None
    assert lua("pause", 2, "q") is None
    assert lua.json("queues", 3, "q")["paused"] is True

    assert lua("unpause", 4, "q", "unknown") is None
    assert lua.json("queues", 5, "q")["paused"] is False


def test_b91_a_forgotten_queue_does_not_come_back_paused(lua):
    lua.put(1, "j")
    lua("pause", 2, "q")

    assert lua("queue.forget", 3, "q") is None
    assert lua.json("queues", 4) == []

    lua.put(5, "k")
    assert lua.json("queues", 6)[0]["paused"] is False
    assert lua.popped(7, 5) == ["j", "k"]


@pytest.mark.parametrize(
    ("state", "jids"),
    [
        ("running", []),
        ("stalled", ["stalled"]),
        ("scheduled", ["later"]),
        ("depends", ["depends"]),
        ("recurring", ["recurring"]),
    ],
)
def test_jobs_are_listed_by_state(busy, state, jids):
    before = busy.stored()

    assert busy("jobs", 100, state, "q") == jids
    assert busy("jobs", 100, state, "unknown") == []
    assert busy.stored() == before


def test_a_lock_that_ends_this_very_moment_is_listed_as_the_original_does(lua):
    lua.put(1, "j")
    lua.pop(40)

    assert [lua("jobs", 100, state, "q") for state in ("running", "stalled")] == [["j"], ["j"]]
    assert [lua("jobs", 101, state, "q") for state in ("running", "stalled")] == [[], ["j"]]
    assert [lua("jobs", 99, state, "q") for state in ("running", "stalled")] == [["j"], []]


def test_b28_lists_page_through_all(lua):
    for number in range(60):
        lua.put(number, f"r-{number:02}")
    lua.pop(100, 60)
    for number in range(60):
        lua.put(number, f"s-{number:02}", delay=1000)
        lua.put(number, f"d-{number:02}", "depends", '["r-59"]')
        lua("recur", number, "q", f"c-{number:02}", "K", "{}", "interval", 60, 1000)
    for number in range(59):
        lua("complete", 101 + number, f"r-{number:02}", "w", "q", "{}")

    def walk(*state):
        pages = [lua("jobs", 110, *state, offset, 25) for offset in range(0, 100, 25)]
        return [jid for page in pages for jid in page]

    assert walk("complete") == [f"r-{number:02}" for number in reversed(range(59))]
    assert walk("scheduled", "q") == [f"s-{number:02}" for number in range(60)]
    assert walk("depends", "q") == [f"d-{number:02}" for number in range(60)]
    assert walk("recurring", "q") == [f"c-{number:02}" for number in range(60)]
    assert walk("running", "q") == ["r-59"]
    assert len(lua("jobs", 110, "complete")) == 25
    for state, number in (("complete",), 59), (("scheduled", "q"), 60), (("depends", "q"), 60):
        assert len(lua("jobs", 110, *state, 0, 0)) == number
        assert lua("jobs", 110, *state, 1, 0) == []
    for state in ("running", "stalled", "recurring"):
        assert lua("jobs", 110, state, "q", 0, 0) == []


@pytest.mark.parametrize("offset", ["1e30", "99999999999999999999"])
def test_b24_a_page_far_past_the_end_is_empty(lua, offset):
    lua.put(1, "j", "tags", '["t"]')

    assert lua("jobs", 2, "complete", offset, offset) == []
    assert lua("jobs", 2, "running", "q", offset, offset) == []
    assert lua.json("tag", 2, "get", "t", offset, offset)["jobs"] == []
    assert lua.json("failed", 2, "g", offset, offset)["jobs"] == []
    assert lua.json("peek", 2, "q", offset)[0]["jid"] == "j"
