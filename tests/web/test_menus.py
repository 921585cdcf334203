"""The menus of jobs in lists: each for its own job, drawn once for those that are alike."""

from __future__ import annotations

import re

import pytest

from qless_web import job_rows, menus

#: Jids that stand in an address as they are, and others.
JIDS = ("order-1", "b" * 32, "order 2", "<b>", "a/b", "ü{0}", "%s")


@pytest.fixture
def jobs(client):
    """Put a job of each jid."""
    for jid in JIDS:
        client.queues["mail"].put("Letter", {}, jid=jid)
    return client


def menus_in(html):
    """Give what each menu is called, and where it leads to."""
    return {
        re.search(r'aria-label="Actions for ([^"]*)"', part)[1]: re.findall(
            r'(?:href|action)="([^"]*/jobs/[^"]*)"', part
        )
        for part in re.findall(r'<details class="menu".*?</details>', html, re.DOTALL)
        if "Actions for" in part
    }


@pytest.mark.usefixtures("jobs")
def test_each_menu_is_that_of_its_own_job(web, monkeypatch):
    once = menus_in(web.get("/queues/mail/waiting").text)
    monkeypatch.setattr(menus, "PLAIN", re.compile("(?!)"))
    one_by_one = menus_in(web.get("/queues/mail/waiting").text)

    assert once == one_by_one
    assert len(once) == len(JIDS)
    assert all(once.values())
    assert once["bbbbbbbb…"] == [
        f"{web.prefix}/jobs/{'b' * 32}/{verb}" for verb in ("move", "priority", "track", "cancel")
    ]


def test_a_hundred_rows_of_a_kind_have_their_menu_drawn_once(client, web, monkeypatch):
    client.queues["mail"].put_many({"klass": "Letter", "data": {}} for _ in range(100))
    drawn = []

    def row_menu(draw, *args):
        def counted(*asked):
            drawn.append(asked)
            return draw(*asked)

        return menus.row_menu(counted, *args)

    monkeypatch.setattr(job_rows, "row_menu", row_menu)

    assert len(menus_in(web.get("/queues/mail/waiting?size=100").text)) == 100
    assert len(drawn) == 1
