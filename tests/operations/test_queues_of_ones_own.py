"""Who may change the jobs of some queues alone: operations leave out the others, and say so."""

from __future__ import annotations

import pytest

from qless_web import create_app
from qless_web.access import Grant
from qless_web.accounts.passwords import hashed
from qless_web.accounts.users import User, write
from qless_web.console import EXTENSION
from tests.operations.conftest import Operations
from tests.support.stored import everything

PASSWORD = "correct horse battery"  # noqa: S105 - of made-up people

GRANTS = {
    "dana": Grant("operator"),
    "erik": Grant("operator", queues=("mail*",)),
    "noor": Grant("operator", queues=("mail", "shop?")),
}


@pytest.fixture
def people(client, tmp_path):
    """Sign everybody in at a console that does operations: who they are -> their orders."""
    place, digest = tmp_path / "users", hashed(PASSWORD, (10, 1, 1))
    write(place, [User(name, grant, digest) for name, grant in GRANTS.items()])
    app = create_app(client, users_file=place, secret_keys=("k" * 40,))
    background = app.extensions[EXTENSION].operations
    background.start()
    yield {name: Operations(visitor(app, name)) for name in GRANTS}
    background.close()


def visitor(app, name):
    browser = app.test_client()
    assert browser.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
    return browser


def jobs(redis):
    """Read all that is stored of jobs and queues."""
    return {key: value for key, value in everything(redis).items() if not key.startswith("ql:web:")}


@pytest.fixture
def mixed(shop):
    """Fail jobs of several queues in one group."""
    shop.fail("a", "b")
    shop.fail("slow", queue="mail-slow")
    shop.fail("theirs", queue="shop1")


@pytest.mark.usefixtures("mixed")
def test_jobs_of_other_queues_are_left_out_of_a_preview_a_run_and_its_report(shop, people):
    erik = people["erik"]

    seen = erik.order("retry", {"group": "boom"}, status=200, dry_run=True)
    done = erik.do("retry", {"group": "boom"})

    assert (seen["total"], seen["excluded"]) == (4, {"foreign": 1})
    assert seen["odd"] == [
        {
            "jid": "theirs",
            "reason": "foreign",
            "text": "it is in a queue that whoever asked may not change",
        }
    ]
    assert (done["done"], done["left"]) == (3, {"foreign": 1})
    assert [each["jid"] for each in erik.report(done["id"]) if each["reason"] == "foreign"] == [
        "theirs"
    ]
    assert (shop.state("slow"), shop.state("theirs")) == ("waiting", "failed")


@pytest.mark.usefixtures("mixed")
def test_by_form_it_is_prepared_shown_started_and_undone(shop, people):
    web = people["erik"].web
    chosen = {"action": "retry", "jids": ["a", "theirs"]}

    page = web.post("/operations/new", data=chosen).headers["Location"]
    assert "it is in a queue that whoever asked may not change" in web.get(page).text
    assert web.post(f"{page}/start", data={"expected": "1"}).status_code == 303
    made = page.rpartition("/")[2]
    assert people["erik"].until(made)["left"] == {"foreign": 1}
    assert web.post(f"{page}/undo", data={"expected": "1"}).status_code == 303

    undone = people["erik"].until(people["erik"].look(made)["undone_by"])
    assert (undone["done"], undone["left"]) == (1, {"untouched": 1})
    assert (shop.state("a"), shop.state("theirs")) == ("failed", "failed")


@pytest.mark.usefixtures("mixed")
def test_a_job_that_went_to_another_queue_meanwhile_is_left_alone(shop, people):
    web = people["erik"].web
    page = web.post("/operations/new", data={"action": "priority", "jids": "a", "priority": "7"})
    address = page.headers["Location"]
    shop.client.redis.hset("ql:j:a", "queue", "shop1")

    assert web.post(f"{address}/start", data={"expected": "1"}).status_code == 303

    assert people["erik"].until(address.rpartition("/")[2])["left"] == {"foreign": 1}
    assert shop.client.jobs["a"].priority == 0


def test_what_others_wait_for_that_may_not_be_cancelled_stays(shop, people):
    shop.put("first")
    shop.put("second", queue="shop1", depends=["first"])
    selection, options = {"jids": ["first"]}, {"dependents": True}

    seen = people["erik"].order("cancel", selection, status=200, dry_run=True, options=options)
    done = people["erik"].do("cancel", selection, options=options)

    assert seen["excluded"] == done["left"] == {"dependents": 1, "foreign": 1}
    assert people["noor"].do("cancel", selection, options=options)["done"] == 2


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize("action", ["retry", "move"])
def test_jobs_go_to_no_queue_of_others(redis, people, action):
    before = jobs(redis)
    options = {"queue": "shop1"}

    answer = people["erik"].order(action, {"group": "boom"}, status=403, options=options)
    form = {"action": action, "group": "boom", "queue": "shop1"}
    by_form = people["erik"].web.post("/operations/new", data=form)

    assert "erik may not do this: not for shop1" in answer["detail"]
    assert by_form.status_code == 403
    assert "not for shop1" in by_form.text
    assert jobs(redis) == before
    assert redis.keys("ql:web:operation*") == []
    assert people["noor"].do(action, {"group": "boom"}, options=options)["left"] == {"foreign": 1}


@pytest.mark.usefixtures("mixed")
def test_operations_that_reach_further_are_not_theirs_to_steer(people):
    made = people["dana"].do("retry", {"group": "boom"})["id"]
    theirs = people["noor"].do("priority", {"jids": ["a"]}, options={"priority": 3})["id"]

    for other in (made, theirs):
        for verb in ("undo", "pause", "resume", "stop"):
            answer = people["erik"].tell(other, verb, 403)
            assert "erik may change the jobs of some queues only" in answer["detail"]
    for verb in ("undo", "stop"):
        form = people["erik"].web.post(f"/operations/{made}/{verb}", data={"expected": "1"})
        assert form.status_code == 403
    assert people["erik"].tell("00000000000000ff", "undo", 404)
    assert people["dana"].undo(theirs)["done"] == 1


@pytest.mark.usefixtures("mixed")
def test_what_they_cancelled_comes_back_from_the_trash(shop, people):
    made = people["erik"].do("cancel", {"group": "boom"})

    assert made["left"] == {"foreign": 1}
    assert (
        people["noor"].web.post(f"/api/v1/trash/{made['id']}/restore", json={}).status_code == 403
    )
    back = people["erik"].web.post(f"/api/v1/trash/{made['id']}/restore", json={})
    assert people["erik"].until(back.json["id"])["done"] == 3
    assert shop.state("slow") == "failed"
