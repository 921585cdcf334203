"""Walking a list of any length, while others change it."""

from __future__ import annotations

import pytest

#: List -> the key that it lies in, of a queue or tag called `q`.
KEYS = {
    "waiting": "ql:q:q-work",
    "due": "ql:q:q-scheduled",
    "scheduled": "ql:q:q-scheduled",
    "running": "ql:q:q-locks",
    "stalled": "ql:q:q-locks",
    "depends": "ql:q:q-depends",
    "throttled": "ql:q:q-throttled",
    "recurring": "ql:q:q-recur",
    "cron": "ql:q:q-cron",
    "complete": "ql:completed",
    "tag": "ql:t:q",
}


def pairs(reply):
    return list(zip(reply[::2], reply[1::2], strict=True))


def walk(lua, now, name, size=2, between=len, queue="q"):
    """Walk a list to its end; answers the jids in the order they were met."""
    met, place = [], ()
    while found := pairs(lua("jobs.walk", now, name, queue, size, *place)):
        met += [jid for jid, _ in found]
        place = found[-1][::-1]
        between(met)
    return met


@pytest.mark.parametrize("name", KEYS)
def test_every_list_is_walked_in_its_order_and_to_its_end(lua, redis, name):
    now = {"due": 1000, "stalled": 1000}.get(name, 0)
    redis.zadd(KEYS[name], {f"j{number}": number + 1 for number in range(7)})

    met = walk(lua, now, name)

    order = [f"j{number}" for number in range(7)]
    assert met == (order[::-1] if name == "waiting" else order)


def test_what_is_due_and_what_is_not_are_two_lists(lua, redis):
    redis.zadd("ql:q:q-scheduled", {"a": 5, "b": 10, "c": 15})
    redis.zadd("ql:q:q-locks", {"d": 5, "e": 10, "f": 15})

    assert walk(lua, 10, "due") == ["a", "b"]
    assert walk(lua, 10, "scheduled") == ["c"]
    assert walk(lua, 10, "stalled") == ["d", "e"]
    assert walk(lua, 10, "running") == ["f"]


@pytest.mark.parametrize("name", ["due", "waiting"])
@pytest.mark.parametrize("score", [" 5", "5 ", "0x5", "5.0", "-0"])
def test_a_score_may_be_written_as_any_number(lua, redis, name, score):
    redis.zadd(KEYS[name], {"a": 5, "b": 10})

    after = lua("jobs.walk", 20, name, "q", 5, score, "gone")

    exact = "0" if score == "-0" else "5"
    assert after == lua("jobs.walk", 20, name, "q", 5, exact, "gone")


def test_what_stays_is_met_once_though_what_was_met_leaves(lua):
    for number in range(9):
        lua.put(number, f"j{number}")

    met = walk(lua, 10, "waiting", between=lambda _: lua.pop(10, 2))

    assert met == [f"j{number}" for number in range(9)]


def test_what_stays_is_met_though_the_last_one_met_has_moved(lua):
    for number in range(6):
        lua.put(number, f"j{number}")

    met = walk(lua, 10, "waiting", between=lambda met: lua("priority", 10, met[-1], -1))

    assert list(dict.fromkeys(met)) == [f"j{number}" for number in range(6)]


def test_many_of_one_score_are_all_met_though_the_last_one_met_leaves(lua, redis):
    redis.zadd("ql:q:q-work", {f"j{number}": float("inf") for number in range(10)})
    redis.zadd("ql:q:q-work", {"low": float("-inf")})

    met = walk(lua, 10, "waiting", 3, lambda met: redis.zrem("ql:q:q-work", met[-1]))

    assert set(met) == {*(f"j{number}" for number in range(10)), "low"}


def test_scores_are_told_with_every_digit(lua, redis):
    redis.zadd("ql:completed", {"a": 1700000000.1234567, "b": 1700000000.1234570})

    found = pairs(lua("jobs.walk", 0, "complete", "", 1))

    assert walk(lua, 0, "complete", 1) == ["a", "b"]
    assert float(found[0][1]) == 1700000000.1234567


def test_a_stretch_has_a_thousand_entries_at_most(lua, redis):
    redis.zadd("ql:q:q-work", {f"j{number}": number for number in range(1100)})

    assert len(lua("jobs.walk", 0, "waiting", "q", 5000)) == 2 * 1000
    assert lua("jobs.walk", 0, "waiting", "q", 0) == []
    assert len(walk(lua, 0, "waiting", 5000)) == 1100


@pytest.mark.parametrize("name", ["waiting", "complete"])
def test_behind_one_that_left_come_all_of_its_score(lua, redis, name):
    """In either order, though those of higher and lower score are met once."""
    ties = {f"tie-{number}": 5 for number in range(6)}
    redis.zadd(KEYS[name], {"low": 4.5, "lowest": 1, **ties, "high": 5.5, "highest": 9})
    queue = "" if name == "complete" else "q"

    def leave(met):
        if met[-1].startswith("tie"):
            redis.zrem(KEYS[name], met[-1])

    met = walk(lua, 10, name, 1, leave, queue)

    others = ["lowest", "low", "high", "highest"]
    assert [jid for jid in met if jid not in ties] == others[:: 1 if queue == "" else -1]
    assert sorted(jid for jid in met if jid in ties) == sorted(ties)
