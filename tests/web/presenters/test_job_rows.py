"""Jobs as rows of lists."""

from __future__ import annotations

import pytest

from qless_core.reads.rows import JobRow, RecurringRow
from qless_web.formatting import isolated
from qless_web.presenters.jobs import (
    STATES,
    job_actions,
    job_row,
    recurring_rows,
    ticked_verbs,
)
from qless_web.presenters.page import Link


def a_job(**fields):
    values = {
        "jid": "a/b",
        "klass": "Letter",
        "queue": "mail",
        "state": "waiting",
        "worker": "",
        "priority": 0,
        "tags": (),
        "retries": 5,
        "remaining": 5,
        "time": 100.0,
        "expires": None,
        "failure_group": "",
        "failure_message": "",
        "failed_at": None,
        "spawned_from_jid": "",
    }
    return JobRow(**(values | fields))


@pytest.mark.parametrize(
    ("fields", "at", "word"),
    [
        ({"state": "waiting"}, 100.0, "put"),
        ({"state": "running", "expires": 160.0}, 160.0, "lock ends"),
        ({"state": "stalled", "expires": 90.0}, 90.0, "lock ended"),
        ({"state": "scheduled", "at": 500.0}, 500.0, "due"),
        ({"state": "failed", "failed_at": 130.0}, 130.0, "failed"),
        ({"state": "complete"}, 100.0, "completed"),
    ],
)
def test_a_row_shows_the_instant_that_fits_its_state(fields, at, word):
    row = job_row(a_job(**fields), named=True)

    assert (row.at, row.at_word) == (at, word)


def test_a_list_may_be_about_another_instant():
    assert job_row(a_job(at=70.0), moment="tracked").at == 70.0
    assert job_row(a_job(at=70.0), moment="put").at_word == ""


def test_links_carry_whole_names():
    row = job_row(a_job(jid="j" * 64, worker="w:1", tags=("a&b",)))

    assert row.link == Link("jobs.show", {"jid": "j" * 64})
    assert row.queue_link == Link("queues.show", {"queue": "mail"})
    assert row.worker_link == Link("workers.show", {"worker": "w:1"})
    assert row.tags == (("a&b", Link("tags.show", {"tag": "a&b"})),)


def test_only_a_failed_job_shows_its_message_and_only_one_line_of_it():
    message = "first line\n" + "x" * 5_000

    assert job_row(a_job(failure_message=message)).note == ""
    assert job_row(a_job(state="failed", failure_message=message)).note == isolated("first line")


def test_a_job_that_is_gone_offers_nothing():
    row = job_row(a_job(gone=True, state="", klass="", queue=""))

    assert row.gone
    assert row.actions == ()
    assert row.queue_link is None


@pytest.mark.parametrize(
    ("state", "verbs"),
    [
        ("failed", ["Retry", "Move", "Track", "Cancel"]),
        ("running", ["Time out", "Move", "Track", "Cancel"]),
        ("stalled", ["Time out", "Move", "Track", "Cancel"]),
        ("waiting", ["Move", "Priority", "Track", "Cancel"]),
        ("scheduled", ["Run now", "Reschedule", "Move", "Priority", "Track", "Cancel"]),
        ("depends", ["Move", "Priority", "Track", "Cancel"]),
        ("complete", ["Move", "Track"]),
    ],
)
def test_actions_fit_the_state(state, verbs):
    assert [action.text for action in job_actions("j", state)] == verbs


def test_a_tracked_job_can_be_untracked():
    assert "Untrack" in [action.text for action in job_actions("j", "waiting", tracked=True)]


def test_a_job_timed_out_by_hand_says_so():
    assert job_row(a_job(timed_out=True)).note == "timed out by hand"


def test_what_destroys_asks_first_in_every_state():
    for state in STATES:
        for action in job_actions("j", state):
            assert action.asks or not action.danger
        for text, _, _, danger in ticked_verbs(state):
            assert danger == (text == "Cancel")


def test_completed_jobs_cannot_be_cancelled_from_a_list():
    assert [text for text, *_ in ticked_verbs("complete")] == ["Move"]


def test_a_recurring_job_says_how_often_it_runs():
    (row,) = recurring_rows(
        [
            RecurringRow(
                jid="again",
                klass="Again",
                queue="mail",
                priority=0,
                tags=(),
                interval=5400.0,
                count=3,
                retries=None,
                backlog=0,
                next_run=900.0,
                owed=0,
            )
        ]
    )

    assert row.every == "1 h 30 min"
    verbs = ["Run now", "Pause", "Edit", "Move", "Priority", "Cancel"]
    assert [action.text for action in row.actions] == verbs
