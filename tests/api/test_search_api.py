"""Search by the API: parts that follow one another, slips with their place, the index itself."""

from __future__ import annotations

import pytest

from qless_web import create_app
from tests.web.triage.indexes import kept


@pytest.fixture
def shop(client):
    """Put 25 jobs, and fail one."""
    queue = client.queues["mail"]
    for at in range(25):
        queue.put("shop.Letter", {"user_id": at}, jid=f"j{at:02}", tags=["vip"])
    queue.pop().fail("mail-Timeout", "connection reset")
    return client


def visitor(client, **settings):
    return create_app(client, **settings).test_client()


@pytest.mark.parametrize("is_kept", [True, False], ids=["index", "walk"])
def test_parts_follow_one_another_and_each_job_is_in_one(is_kept, shop, tmp_path):
    web = visitor(shop, state_dir=str(tmp_path), index=is_kept)
    found, cursor = [], ""
    with kept(shop, tmp_path):
        for _ in range(9):
            answer = web.get(f"/api/v1/search?q=klass:shop.*&limit=10{cursor}").json
            found += [item["jid"] for item in answer["items"]]
            if answer["next"] is None:
                break
            cursor = f"&cursor={answer['next']}"

    assert sorted(found) == [f"j{at:02}" for at in range(25)]
    assert answer["complete"] is True
    assert answer["covered"] == answer["of"] == 25


def test_an_answer_tells_what_was_found_in_common_and_how_sure_it_is(shop, tmp_path):
    with kept(shop, tmp_path):
        answer = visitor(shop, state_dir=str(tmp_path)).get("/api/v1/search?q=reset").json

    assert [item["failure"]["group"] for item in answer["items"]] == ["mail-Timeout"]
    assert (answer["total"], answer["total_is"], answer["facets_of"]) == (1, "exact", 1)
    facets = {facet["field"]: facet["values"] for facet in answer["facets"]}
    assert facets["klass"] == [{"value": "shop.Letter", "jobs": 1}]
    assert facets["host"] == [{"value": "worker", "jobs": 1}]


def test_without_an_index_it_says_so(shop):
    answer = visitor(shop, index=False).get("/api/v1/search?q=reset").json

    assert answer["index"] == "the setting `index` turns it off"
    assert (answer["total"], answer["facets"]) == (1, [])


def test_a_slip_is_a_problem_with_its_place(shop):
    answer = visitor(shop).get("/api/v1/search?q=mail+grup:x")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert (answer.json["type"], answer.json["position"]) == ("urn:qless:bad-query", 5)
    assert "did you mean" in answer.json["detail"]


def test_a_cursor_is_of_its_query_alone(shop):
    web = visitor(shop, index=False)
    cursor = web.get("/api/v1/search?q=klass:shop.*&limit=2").json["next"]

    assert web.get(f"/api/v1/search?q=other&cursor={cursor}").json["type"] == "urn:qless:bad-cursor"


def test_the_index_says_how_it_stands(shop, tmp_path):
    web = visitor(shop, state_dir=str(tmp_path))
    before = web.get("/api/v1/index").json
    with kept(shop, tmp_path):
        now = web.get("/api/v1/index").json

    assert (before["jobs"], before["complete"], before["as_of"]) == (0, False, None)
    assert before["problem"] == "nobody has begun it"
    assert (now["jobs"], now["complete"], now["problem"]) == (25, True, "")
    assert now["lag_s"] < 60
