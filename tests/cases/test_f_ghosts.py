"""Section F of the field cases: what is listed and gone, and what was done already."""

from __future__ import annotations

import pytest

#: The lists that may name a job whose data is gone.
PLACES = ("work", "locks", "scheduled", "depends", "failed", "completed", "tag", "tracked")


@pytest.fixture
def ghosts(lua, redis):
    """Put a job into each place, beside a good one, and take its data away."""
    now = 1_000
    for kind in ("gone", "good"):
        lua.put(now, f"completed-{kind}", "priority", 9)
        lua.pop(now)
        lua("complete", now, f"completed-{kind}", "w", "q", "{}")
        lua.put(now, f"failed-{kind}", "priority", 9)
        lua.pop(now)
        lua("fail", now, f"failed-{kind}", "w", "g", "m")
        lua.put(now, f"locks-{kind}", "priority", 9)
        lua.pop(now)
        lua.put(now, f"work-{kind}")
        lua.put(now, f"scheduled-{kind}", delay=10)
        lua.put(now, f"depends-{kind}", "depends", f'["work-{kind}"]')
        lua.put(now, f"tag-{kind}", "tags", '["t"]')
        lua.put(now, f"tracked-{kind}")
        lua("track", now, "track", f"tracked-{kind}")
    for place in PLACES:
        redis.delete(f"ql:j:{place}-gone")
    return lua


def test_b36_every_read_passes_over_a_listed_job_that_is_gone(ghosts):
    lua = ghosts
    before = lua.stored()

    assert len(lua.json("multiget", 2000, *[f"{place}-gone" for place in PLACES])) == 0
    assert len(lua.json("multiget", 2000, *[f"{place}-good" for place in PLACES])) == 8
    peeked = {job["jid"] for job in lua.json("peek", 2000, "q", 50)}
    assert peeked == {f"{place}-good" for place in ("locks", "work", "scheduled", "tag", "tracked")}
    assert lua.json("track", 2000)["expired"] == ["tracked-gone"]
    assert set(lua("jobs", 2000, "complete")) == {"completed-gone", "completed-good"}
    for state in ("running", "stalled", "scheduled", "depends", "recurring"):
        lua("jobs", 2000, state, "q")
    assert lua.json("failed", 2000, "g")["total"] == 2
    assert set(lua.json("tag", 2000, "get", "t")["jobs"]) == {"tag-gone", "tag-good"}
    assert lua.json("bulk.states", 2000, "g", 0, 9) == {"failed": 1, "gone": 1}
    assert lua.json("workers", 2000, "w")["stalled"] == ["locks-good", "locks-gone"]
    lua("queues", 2000)
    assert lua.job("work-good")["dependents"] == ["depends-good"]
    assert lua.stored() == before


def test_b36_every_good_job_still_runs_and_no_ghost_does(ghosts):
    lua = ghosts

    popped = lua.popped(2000, 50, worker="v") + lua.popped(2100, 50, worker="v")
    assert set(popped) == {"locks-good", "work-good", "scheduled-good", "tag-good", "tracked-good"}
    lua("complete", 2101, "work-good", "v", "q", "{}")
    assert lua.popped(2102, 50, worker="v") == ["depends-good"]
    assert lua("unfail", 2103, "q", "g") == 1
    assert lua.popped(2104, 50, worker="v") == ["failed-good"]


def test_b36_canceling_takes_a_ghost_off_the_lists_that_workers_and_people_work_on(ghosts):
    lua = ghosts

    jids = [f"{place}-gone" for place in PLACES]
    assert lua("cancel", 2000, *jids) == jids
    lua.popped(2001, 50)
    lua.popped(2002, 50)
    lua("unfail", 2003, "q", "g")
    lua("tag", 2004, "remove", "tag-good", "t")

    assert lua.json("track", 2005)["expired"] == []
    named = {
        key: members
        for key, members in lua.stored().items()
        if any(str(member).endswith("-gone") for member in members)
    }
    # The rest is no trouble to anybody, and for the audit to clean.
    assert named.keys() <= {"ql:completed", "ql:t:t", "ql:q:q-depends", "ql:w:w:jobs"}


@pytest.mark.parametrize("place", PLACES)
def test_b36_a_job_that_is_gone_is_refused_by_name_or_put_anew(ghosts, place):
    lua, jid = ghosts, f"{place}-gone"

    assert lua("get", 2000, jid) is None
    for call in (
        ("heartbeat", 2000, jid, "w"),
        ("complete", 2000, jid, "w", "q", "{}"),
        ("fail", 2000, jid, "w", "g", "m"),
        ("retry", 2000, jid, "q", "w"),
        ("timeout", 2000, jid),
        ("priority", 2000, jid, 1),
        ("tag", 2000, "add", jid, "u"),
        ("tag", 2000, "remove", jid, "u"),
        ("track", 2000, "track", jid),
        ("log", 2000, jid, "m"),
        ("requeue", 2000, "w", "q", jid, "K", "{}", 0),
    ):
        with lua.refused("JOB_NOT_FOUND", f"Job {jid} does not exist"):
            lua(*call)
    with lua.refused("NOT_DEPENDS", "not in the depends state: missing"):
        lua("depends", 2000, jid, "on", "work-good")

    lua.put(2000, jid, "priority", 99, queue="other")
    assert lua.job(jid)["state"] in ("waiting", "depends")


def test_b39_a_second_press_changes_nothing_more(lua):
    lua.put(1, "j", "tags", '["t"]')
    lua.pop(2)
    lua("fail", 3, "j", "w", "g", "m")

    assert lua.json("bulk.move", 4, "g", "q", "j", "failed")["done"] == ["j"]
    assert lua.json("bulk.move", 4, "g", "q", "j", "failed")["left"] == {"j": "waiting"}
    assert len(lua.job("j")["history"]) == 4
    assert lua.popped(5) == ["j"]
    assert lua.json("bulk.cancel", 6, "", "j", "waiting")["left"] == {"j": "running"}
    assert lua.json("tag", 7, "remove", "j", "t") == lua.json("tag", 7, "remove", "j", "t") == []
    for _ in range(2):
        lua("pause", 8, "q")
        assert lua.json("queues", 8, "q")["paused"] is True
    for _ in range(2):
        lua("unpause", 9, "q")
        assert lua.json("queues", 9, "q")["paused"] is False
    assert [lua("track", 10, "track", "j") for _ in range(2)] == ["1", "0"]
    assert [lua("track", 10, "untrack", "j") for _ in range(2)] == ["1", "0"]
    assert [lua("cancel", 11, "j") for _ in range(2)] == [["j"], ["j"]]
    assert [lua("unrecur", 12, "r") for _ in range(2)] == [1, 1]


def test_b39_a_completed_job_is_not_canceled_by_a_late_press(lua):
    lua.put(1, "j")
    lua.pop(2)
    lua("complete", 3, "j", "w", "q", "{}")

    assert lua.json("bulk.cancel", 4, "", "j", "running")["left"] == {"j": "complete"}
    assert lua.json("bulk.move", 4, "", "q", "j", "running,waiting")["left"] == {"j": "complete"}
    assert lua.job("j")["state"] == "complete"
