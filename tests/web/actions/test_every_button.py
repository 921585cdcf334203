"""B87: every button on every page does what it says, on a job in each state, or is not offered."""

from __future__ import annotations

import pytest

from qless_core.records import WorkerInfo
from tests.support.dom import parse
from tests.support.html import forms, question, toasts

STATES = (
    "waiting",
    "running",
    "stalled",
    "scheduled",
    "depends",
    "failed",
    "complete",
    "recurring",
)

#: Pages on which job `a`, its queue, its group or its worker stand.
PAGES = (
    "/",
    "/queues",
    "/queues/mail",
    "/queues/mail/waiting",
    "/queues/mail/running",
    "/queues/mail/stalled",
    "/queues/mail/scheduled",
    "/queues/mail/depends",
    "/queues/mail/recurring",
    "/failed",
    "/failed/boom",
    "/track",
    "/tag?tag=x",
    "/workers",
    "/workers/worker-1",
    "/completed",
    "/scheduled",
    "/recurring",
    "/jobs/a",
)

FILLED = {"name": "Mail", "queue": "slow", "priority": "5", "tag": "y", "delay": "2h",
          "klass": "Job", "data": '{"n": 2}', "retries": "7", "assignee": "kim",
          "note": "known"}  # fmt: skip


@pytest.fixture
def fresh(redis, shop, client, clock):
    """Bring everything into the same state again, with job `a` in one."""
    options = {"tags": ["x"]}
    begins = {
        "waiting": lambda: shop.put("a", **options),
        "running": lambda: shop.run("a", **options),
        "stalled": lambda: (shop.run("a", **options), clock.advance(100)),
        "scheduled": lambda: shop.put("a", delay=3_600, **options),
        "depends": lambda: shop.put("a", depends=["first"], **options),
        "failed": lambda: shop.fail("a", **options),
        "complete": lambda: shop.run("a", **options).complete(),
        "recurring": lambda: client.queues["mail"].recur(
            "Job", {}, interval=60, offset=60, jid="a", **options
        ),
    }

    def begin(state):
        redis.flushall()
        shop.put("first", queue="else")
        begins[state]()
        client.workers.beat("worker-1", WorkerInfo())
        if state != "recurring":
            client.track("a")

    return begin


def offers(web, path):
    """List what can be done on a page: forms that act, and questions that are opened."""
    page = web.page(path)
    posting = [each for each in forms(page) if each.method == "post"]
    # How pages look is no matter of Redis.
    acting = [each for each in posting if not each.address.endswith("/preferences")]
    links = {each.attributes["hx-get"] for each in page.all("a") if "hx-get" in each.attributes}
    return acting, sorted(links)


def succeeds(web, answer, stored, before):
    told = toasts(web.follow(answer))
    assert "Nothing was done" not in told, told
    # Lists do not know which of their jobs are tracked.
    assert stored() != before or "tracked already" in told, told


@pytest.mark.parametrize("state", STATES)
def test_every_button_does_what_it_says(web, fresh, state, stored):
    fresh(state)
    done = set()
    for path in PAGES:
        if web.get(path).status_code == 404:
            continue
        acting, asking = offers(web, path)
        for form in acting:
            known = (form.address, tuple(pair for pair in form.fields if pair[0] != "return_to"))
            if known in done:
                continue
            done.add(known)
            fresh(state)
            before = stored()
            answer = web.submit(form, **{k: v for k, v in FILLED.items() if _empty(form, k)})
            if answer.status_code == 422:
                answer = web.submit(question(_page(answer)))
            succeeds(web, answer, stored, before)
            fresh(state)
        for address in asking:
            if address in done:
                continue
            done.add(address)
            before = stored()
            asked = question(web.page(address.removeprefix(web.prefix)))
            values = {name: value for name, value in FILLED.items() if name in dict(asked.fields)}
            answer = web.submit(asked, **values)
            succeeds(web, answer, stored, before)
            fresh(state)

    assert len(done) > 4


def _empty(form, name):
    return dict(form.fields).get(name) == ""


def _page(answer):
    return parse(answer.get_data(as_text=True))
