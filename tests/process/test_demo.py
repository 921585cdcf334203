from __future__ import annotations

import re

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.job import State
from qless_web import create_app
from qless_web.demo import shop, workers
from qless_web.demo.catalog import TROUBLES
from qless_web.demo.seeds import plant
from tests.support.polling import eventually
from tests.support.processes import is_alive


@pytest.fixture
def planted(client):
    plant(client)
    return client


def counts(client):
    return {each.name: each for each in client.queues.counts}


def test_every_page_has_something_to_show(planted):
    queues = counts(planted)

    assert sum(each.waiting for each in queues.values()) > 25
    assert sum(each.running for each in queues.values()) == 2
    assert sum(each.stalled for each in queues.values()) == 2
    assert sum(each.scheduled for each in queues.values()) > 10
    assert sum(each.depends for each in queues.values()) == 2
    assert sum(each.recurring for each in queues.values()) == 6
    assert [name for name, each in queues.items() if each.paused] == ["newsletter"]
    assert "eu/orders" in queues
    assert len(planted.jobs.complete(0, 500)) > 75
    assert planted.tags.top()
    assert len(planted.workers.counts) > 5
    assert planted.config["exports-heartbeat"] == 3600


def test_failures_come_in_groups_one_of_which_has_pages(planted):
    groups = planted.failures.groups

    assert set(groups) == {each.group for each in TROUBLES} | {"failed-retries-webhooks"}
    assert max(groups.values()) > 25
    assert "Traceback" in planted.failures.jobs("payments-CardDeclined").jobs[0].failure.message
    assert ".rb:" in planted.failures.jobs("exports-NoMethodError").jobs[0].failure.message


def test_what_a_failure_says_is_true_of_its_job(planted):
    for trouble in TROUBLES:
        for job in planted.failures.jobs(trouble.group).jobs:
            assert job.klass_name == trouble.klass
            assert (job.queue_name, job.failure.group) == (trouble.queue, trouble.group)
            about = {
                str(job.data[name])
                for name in ("order", "url", "to", "source", "product", "locale", "month")
                if f"{{{name}}}" in trouble.message and name in job.data
            }
            assert about
            assert [each for each in about if each not in job.failure.message] == []


def test_a_group_is_called_after_the_exception_that_was_raised():
    for trouble in TROUBLES:
        name = trouble.group.removeprefix(f"{trouble.queue}-")
        raised = re.findall(r"^(?:\w+\.)*([\w:]*[A-Z]\w+): ", trouble.message, re.MULTILINE)

        assert raised[-1] == name


def test_recurring_jobs_may_be_tried_again(planted):
    for queue in counts(planted):
        for jid in planted.queues[queue].jobs.recurring():
            assert planted.jobs[jid].retries > 0


def test_a_webhook_goes_to_the_partner_of_its_tag(planted):
    found = [
        planted.jobs[jid]
        for number in (3, 7)
        for jid in planted.jobs.tagged(f"partner-{number}").jids
    ]

    assert found
    assert all(set(job.tags) >= {"partner", f"partner-{job.data['url'][22]}"} for job in found)


def test_tracked_jobs_are_in_several_states(planted):
    states = {job.state for job in planted.jobs.tracked().jobs}

    assert states == {
        State.RUNNING,
        State.COMPLETE,
        State.FAILED,
        State.SCHEDULED,
        State.DEPENDS,
        State.STALLED,
    }


def test_history_lies_in_the_past_and_in_order(planted, clock):
    for jid in planted.jobs.complete(0, 200):
        moments = [item.when for item in planted.jobs[jid].history]

        assert moments == sorted(moments)
        assert moments[-1] <= clock.now()


def test_some_histories_have_several_attempts(planted):
    jobs = planted.failures.jobs("failed-retries-webhooks").jobs

    assert all([item.what for item in job.history].count("popped") == 3 for job in jobs)


def test_the_crew_keeps_the_shop_moving(server, planted):
    last = planted.jobs.complete(0, 1)
    crew = workers.Crew(server.url)

    crew.start()
    try:
        eventually(lambda: planted.jobs.complete(0, 1) != last)
    finally:
        crew.stop()


def test_the_crew_keeps_failures_few(server, planted, monkeypatch):
    monkeypatch.setattr(workers, "USUAL", dict.fromkeys(workers.USUAL, 4))
    crew = workers.Crew(server.url)

    crew.start()
    try:
        eventually(lambda: max(planted.failures.groups.values()) <= 5)
    finally:
        crew.stop()


def test_the_crew_goes_home_with_the_shop(server, client):
    with shop.open_shop(server.url, "ql:") as opened:
        opened.wait_open()
        assert counts(client)
        assert is_alive(opened.pid)

    assert not is_alive(opened.pid)


def test_a_shop_that_has_data_is_not_filled_again(server, client):
    client.queues["mine"].put("Mine", {})

    with shop.open_shop(server.url, "ql:") as opened:
        opened.wait_open()
        assert "video" not in counts(client)


def test_the_crew_tells_of_itself_and_does_what_it_is_asked(server, planted):
    def told(name):
        return planted.workers[name].info

    crew = workers.Crew(server.url, pace=20)
    crew.start()
    try:
        eventually(lambda: told("shop-2-4102") and told("shop-3-4103"))
        before = told("shop-2-4102").started
        planted.workers.ask("shop-2-4102", "stop")
        planted.workers.ask("shop-3-4103", "pause")
        eventually(lambda: told("shop-3-4103").state == "paused")
        # One that stops goes, and something starts it again.
        eventually(lambda: (again := told("shop-2-4102")) and again.started > before)
    finally:
        crew.stop()

    assert {each.name for each in planted.workers.counts}.isdisjoint(workers.CREW)


@pytest.mark.usefixtures("redis")
def test_operators_left_something_to_read_and_to_undo(server):
    workers.Crew(server.url).furnish()

    with Client(server.url) as client:
        web = Browser(create_app(client, index=False))
        pages = {
            each: web.get(f"/{each}").get_data(as_text=True)
            for each in ("", "audit", "trash", "views", "operations")
        }

    assert "taken anew" in pages["audit"]
    assert "Restore all" in pages["trash"]
    assert "Longest waits" in pages["views"]
    assert "shop 4.12" in pages[""]
    assert all(each in pages["operations"] for each in ("3 of 3 jobs", "dana", "kim"))
