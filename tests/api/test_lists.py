"""Lists are read part by part, by cursors that belong to them."""

from __future__ import annotations

import pytest

from qless_web.api.route import ROUTES
from tests.api.test_every_address import path_for

# A search without an index gives the parts of a walk: see `test_search_api.py`.
LISTS = [
    route
    for route in ROUTES
    if any(each.name == "cursor" for each in route.params) and route.name != "search"
]


@pytest.fixture(params=LISTS, ids=lambda route: route.name)
def path(request):
    return path_for(request.param)


def parts(api, path, limit):
    joined = "&" if "?" in path else "?"
    cursor = None
    while True:
        part = api.get(f"{path}{joined}limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
        assert part.status_code == 200
        yield part.json
        cursor = part.json["next"]
        if cursor is None:
            return


def test_part_by_part_gives_the_same_as_all_at_once(looking, path):
    (whole,) = parts(looking, path, 500)
    read = list(parts(looking, path, 2))

    assert [item for part in read for item in part["items"]] == whole["items"]
    assert {part["total"] for part in read} == {whole["total"]} == {len(whole["items"])}
    assert len(read) == max(1, -(-whole["total"] // 2))


def test_every_list_but_one_has_something_in_it(looking):
    empty = [route.name for route in LISTS if not looking.get(path_for(route)).json["total"]]

    assert set(empty) <= {"workerJobs", "recurringJobs", "queueJobs"}


@pytest.mark.parametrize("cursor", ["", "abc", "AAAAAAAAAAAAAAAA", "!!!!", "A" * 3_000, "%00", "é"])
def test_a_cursor_that_nobody_wrote_is_refused_and_why(looking, path, cursor):
    answer = looking.get(f"{path}{'&' if '?' in path else '?'}cursor={cursor}")

    assert answer.status_code == 400
    assert answer.json["type"] == "urn:qless:bad-cursor"
    assert "cursor" in answer.json["detail"]


def test_a_cursor_of_another_list_is_refused_and_why(looking, path):
    cursor = looking.get("/api/v1/queues?limit=1&q=i").json["next"]
    assert cursor

    answer = looking.get(f"{path}{'&' if '?' in path else '?'}cursor={cursor}")

    assert answer.status_code == 400
    assert "another list" in answer.json["detail"]


def test_only_the_limit_may_change_on_the_way(looking):
    cursor = looking.get("/api/v1/queues?limit=3&q=i").json["next"]
    names = [each["name"] for each in looking.get("/api/v1/queues?q=i").json["items"]]

    longer = looking.get(f"/api/v1/queues?limit=500&q=i&cursor={cursor}").json

    assert [each["name"] for each in longer["items"]] == names[3:]
    assert looking.get(f"/api/v1/queues?q=o&cursor={cursor}").status_code == 400
    assert looking.get(f"/api/v1/queues?q=i&sort=waiting&cursor={cursor}").status_code == 400


@pytest.mark.parametrize("limit", ["0", "501", "-1", "1.5", "nan", "", "abc", "٣", "1e2", "9" * 99])
def test_a_limit_that_makes_no_sense_is_refused(looking, path, limit):
    answer = looking.get(f"{path}{'&' if '?' in path else '?'}limit={limit}")

    assert answer.status_code == 400
    assert "from 1 to 500" in answer.json["detail"]


def test_a_parameter_twice_is_refused(looking, path):
    answer = looking.get(f"{path}{'&' if '?' in path else '?'}limit=1&limit=2")

    assert answer.status_code == 400
    assert "once" in answer.json["detail"]


def test_a_list_that_became_shorter_ends(api, shop):
    shop.put("a")
    shop.put("b")
    shop.put("c")
    cursor = api.get("/api/v1/queues/mail/jobs?limit=2").json["next"]
    shop.client.commands.cancel("a", "b")

    part = api.get(f"/api/v1/queues/mail/jobs?limit=2&cursor={cursor}").json

    assert (part["items"], part["total"], part["next"]) == ([], 1, None)


@pytest.mark.parametrize("where", ["/failures/no-such-group/jobs", "/tags/no-such-tag/jobs"])
def test_what_lives_in_its_jobs_alone_is_empty_without_them(api, where):
    answer = api.get(f"/api/v1{where}")

    assert answer.status_code == 200
    assert answer.json["items"] == []


@pytest.mark.parametrize(
    "where",
    [
        "/queues/none", "/queues/none/jobs", "/queues/none/recurring", "/queues/none/stats",
        "/workers/none", "/workers/none/jobs", "/jobs/none", "/jobs/none/data",
    ],
)  # fmt: skip
def test_what_is_not_there_is_404_by_its_name(api, where):
    answer = api.get(f"/api/v1{where}")

    assert answer.status_code == 404
    assert answer.json["type"] == "urn:qless:not-found"
    assert "“none”" in answer.json["detail"]


@pytest.mark.parametrize("list_of", ["/tracked", "/tags/x/jobs"])
def test_one_state_of_a_list_can_be_asked_for(api, shop, list_of):
    shop.put("a", tags=["x"])
    shop.fail("b")
    shop.client.jobs["b"].tag("x")
    for jid in ("a", "b"):
        shop.client.track(jid)

    every = api.get(f"/api/v1{list_of}").json
    failed = api.get(f"/api/v1{list_of}?state=failed").json

    assert [each["jid"] for each in every["items"]] == ["b", "a"]
    assert every["states"] == {"failed": 1, "waiting": 1}
    assert [each["jid"] for each in failed["items"]] == ["b"]
    assert (failed["total"], failed["members"]) == (1, 2)
    assert api.get(f"/api/v1{list_of}?state=nonsense").status_code == 400
