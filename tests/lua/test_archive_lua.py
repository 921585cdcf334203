"""Where an archiver of completed jobs stands, and what it is told."""

from __future__ import annotations

import pytest


def complete(lua, now, *jids):
    for jid in jids:
        lua.put(now, jid)
        assert lua.popped(now) == [jid]
        lua("complete", now, jid, "w", "q", "{}")


def next_page(lua, now, count=10, settle=0, name="n"):
    page = lua.json("archive.next", now, name, settle, count)
    page["jobs"] = [job["jid"] for job in page["jobs"]]
    return page


def archive(lua, now, count=2, settle=0, name="n"):
    """Archive all there is; answers the jids in order."""
    written = []
    while True:
        page = next_page(lua, now, count, settle, name)
        if page["from"] == page["to"]:
            return written
        written += page["jobs"]
        lua("archive.done", now, name, page["from"], page["to"])


def test_each_completed_job_is_told_once_the_oldest_first(lua):
    complete(lua, 1, "a")
    complete(lua, 2, "b")
    complete(lua, 3, "c")

    assert archive(lua, 10) == ["a", "b", "c"]
    assert archive(lua, 10) == []
    complete(lua, 11, "d")
    assert archive(lua, 12) == ["d"]


def test_nothing_moves_before_it_is_said_to_be_written(lua):
    complete(lua, 1, "a", "b")

    first = next_page(lua, 10, 1)

    assert next_page(lua, 10, 1) == first
    assert (first["jobs"], first["times"], first["from"], first["to"]) == (["a"], ["1"], "", "1 a")


def test_jobs_of_one_moment_are_all_told(lua):
    complete(lua, 1, *"abcdefg")

    assert archive(lua, 10, 3) == [*"abcdefg"]


def test_a_job_is_left_alone_until_it_has_settled(lua):
    complete(lua, 100, "a")
    complete(lua, 160, "b")

    assert archive(lua, 170, settle=60) == ["a"]
    complete(lua, 150, "late")  # by the clock of a client that is late
    assert archive(lua, 220, settle=60) == ["late", "b"]


def test_two_archivers_stand_in_places_of_their_own(lua):
    complete(lua, 1, "a")

    assert archive(lua, 10, name="n") == ["a"]
    assert archive(lua, 10, name="m n") == ["a"]


def test_two_of_one_name_do_not_write_the_same_twice(lua):
    complete(lua, 1, "a")
    page = next_page(lua, 10)
    lua("archive.done", 10, "n", page["from"], page["to"])

    with lua.refused("ARCHIVE_MOVED", "The archive n stands at"):
        lua("archive.done", 10, "n", page["from"], page["to"])


def test_a_job_that_completes_again_is_told_again(lua):
    complete(lua, 1, "a")
    archive(lua, 10)
    complete(lua, 20, "a")

    assert archive(lua, 30) == ["a"]


def test_it_says_when_jobs_may_have_been_forgotten_by_number(lua):
    lua("config.set", 0, "jobs-history-count", 3)
    complete(lua, 1, "a")
    archive(lua, 2)
    complete(lua, 3, "b", "c")
    assert not next_page(lua, 4)["gap"]

    complete(lua, 5, "d", "e", "f")

    assert next_page(lua, 6)["gap"]
    assert archive(lua, 6) == ["d", "e", "f"]
    assert not next_page(lua, 7)["gap"]


def test_it_says_when_jobs_may_have_been_forgotten_by_age(lua):
    lua("config.set", 0, "jobs-history", 100)
    complete(lua, 1, "a")
    archive(lua, 2)
    complete(lua, 50, "b")
    complete(lua, 200, "c")

    assert next_page(lua, 201)["gap"]


def test_an_archiver_that_never_ran_misses_nothing(lua):
    lua("config.set", 0, "jobs-history-count", 1)
    complete(lua, 1, "a", "b")

    assert not next_page(lua, 2)["gap"]


def test_a_job_whose_data_is_gone_is_counted_and_passed(lua, redis):
    complete(lua, 1, "a", "b")
    redis.delete("ql:j:a")

    page = next_page(lua, 2)

    assert (page["jobs"], page["gone"]) == (["b"], 1)


@pytest.mark.parametrize("stored", ["", "nonsense", "nan x", "x y"])
def test_a_place_that_is_none_is_the_beginning(lua, redis, stored):
    complete(lua, 1, "a")
    redis.hset("ql:archive", "n", stored)

    assert archive(lua, 2) == ["a"]
