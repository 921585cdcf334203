"""A job's life: attempts in lanes, waits and runs apart, gaps, marks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qless_core.reads.job import Happening, JobDetail
from qless_core.reads.rows import JobRow
from qless_web.presenters.attempts import LANES
from qless_web.presenters.timeline import life

ROW = JobRow(
    jid="j", klass="Letter", queue="mail", state="complete", worker="", priority=0, tags=(),
    retries=5, remaining=5, time=None, expires=None, failure_group="", failure_message="",
    failed_at=None, spawned_from_jid="",
)  # fmt: skip

JOB = JobDetail(
    row=ROW, data="{}", data_bytes=2, failure={}, history=(), history_trimmed=False,
    dependencies=(), dependencies_total=0, dependents=(), dependents_total=0, tracked_since=None,
    due=None, ahead=None, paused=False, worker_seen=None, any_worker_seen=None, running=0,
    max_running=0, kept_s=0, grace_s=10, queues=(),
)  # fmt: skip


def put(at):
    return Happening("put", at, {"q": "mail"})


def popped(at, worker="w"):
    return Happening("popped", at, {"worker": worker})


def happened(what, at, **detail):
    return Happening(what, at, detail)


def lived(*history, state="complete", now=1_000.0, trimmed=False, expires=None):
    row = replace(ROW, state=state, expires=expires)
    return life(replace(JOB, row=row, history=tuple(history), history_trimmed=trimmed), now)


def drawn(found):
    return [(bar.kind, bar.text, lane) for bar, lane in bars(found)]


def bars(found):
    lanes = enumerate(each.lane for each in found.attempts)
    return [(bar, number) for number, lane in lanes for bar in lane.bars]


def marks(found):
    return [mark for each in found.attempts for mark in each.lane.marks]


def table(found):
    return [(each.number, each.worker, each.outcome, each.waited, each.ran)
            for each in found.attempts]  # fmt: skip


def test_a_job_that_ran_well():
    found = lived(put(0), popped(12), happened("done", 73))

    assert drawn(found) == [("wait", "waited 12 s", 0), ("run", "1 min 1 s · completed", 0)]
    assert (found.popped, found.waited, found.ran) == (1, 12, 61)
    assert [bar.x for bar, _ in bars(found)] == [0, pytest.approx(100 * 12 / 73, abs=0.01)]


def test_each_attempt_has_its_own_lane():
    found = lived(
        put(0), popped(10), happened("timed-out", 70), popped(75), happened("failed", 80),
        put(130), popped(133), happened("done", 134),
    )  # fmt: skip

    assert drawn(found) == [
        ("wait", "waited 10 s", 0), ("stalled", "1 min · timed out", 0),
        ("wait", "waited 5 s", 1), ("failed", "5 s · failed", 1),
        ("wait", "waited 3 s", 2), ("run", "1 s · completed", 2),
    ]  # fmt: skip
    assert table(found) == [
        (1, "w", "timed out", 10, 60), (2, "w", "failed", 5, 5), (3, "w", "completed", 3, 1),
    ]  # fmt: skip
    assert found.popped == 3


def test_a_retry_leaves_no_trace_of_when_it_was():
    found = lived(put(0), popped(10), popped(70), happened("done", 80))

    assert drawn(found)[1] == ("gap", "1 min · retried", 0)
    assert drawn(found)[2] == ("run", "10 s · completed", 1)
    assert table(found) == [(1, "w", "retried", 10, None), (2, "w", "completed", None, 10)]


def test_a_job_that_was_given_back_waits_again():
    found = lived(
        put(0), popped(10), happened("died", 40, ran=True, signal="SIGKILL", pid=4711),
        popped(45, "x"), happened("not-begun", 50, ran=False), popped(60), happened("done", 61),
    )  # fmt: skip

    assert drawn(found) == [
        ("wait", "waited 10 s", 0),
        ("stalled", "30 s · died", 0),
        ("wait", "waited 5 s", 1),
        ("gap", "not begun", 1),
        ("wait", "waited 10 s", 2),
        ("run", "1 s · completed", 2),
    ]
    assert table(found) == [
        (1, "w", "died", 10, 30), (None, "x", "not begun", 5, None), (2, "w", "completed", 10, 1),
    ]  # fmt: skip
    assert (found.popped, found.waited, found.ran) == (2, 25, 31)
    assert marks(found) == []
    shown = [(each.what, each.state, each.said, each.detail) for each in found.events]
    assert shown[4] == ("Died", "stalled", "signal SIGKILL, pid 4711", None)
    assert shown[2] == ("Not begun", "waiting", "it did not run", None)


def test_a_job_that_was_given_back_goes_on_waiting():
    found = lived(put(0), popped(10), happened("stopped", 40, ran=True), state="waiting", now=100.0)

    assert drawn(found)[-1] == ("wait", "waiting", 1)
    assert (found.present, found.present_since) == ("waiting", 40)


def test_more_than_a_line_of_a_job_that_was_given_back_is_shown_as_data():
    found = lived(put(0), popped(1), happened("died", 2, ran=True, limits={"cpu": 5}))

    assert (found.events[0].said, found.events[0].detail is None) == ("", False)


def test_a_log_line_that_says_whether_something_ran_is_no_end_of_a_job():
    found = lived(put(0), happened("note", 1, ran=True), popped(2), happened("done", 3))

    assert [kind for kind, *_ in drawn(found)] == ["wait", "run"]
    assert len(marks(found)) == 1


def test_a_move_while_running_ends_the_run():
    found = lived(put(0), popped(10), put(20), state="waiting", now=25)

    assert drawn(found)[1:] == [("run", "10 s · put again", 0), ("wait", "waiting", 1)]


def test_a_job_that_goes_from_queue_to_queue():
    found = lived(
        put(0), popped(10), happened("done", 20), put(20), popped(21), happened("done", 22)
    )

    assert [bar[2] for bar in drawn(found)] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        ("waiting", "wait", "waiting"),
        ("scheduled", "scheduled", "scheduled"),
        ("depends", "depends", "waiting for others"),
    ],
)
def test_what_goes_on_is_drawn_until_now(state, kind, words):
    found = lived(put(960), state=state)

    assert drawn(found) == [(kind, words, 0)]
    assert (found.present, found.present_since) == (words, 960)
    assert found.waited is None


def test_a_running_job_is_drawn_until_now():
    found = lived(put(0), popped(970), state="running")

    assert drawn(found)[1] == ("run", "running", 0)
    assert (found.present, found.present_since, found.ran) == ("running", 970, None)


def test_a_stalled_job_ran_until_its_lock_ended_and_is_stalled_since():
    found = lived(put(0), popped(900), state="stalled", expires=960.7)

    assert drawn(found)[1:] == [
        ("run", "1 min, while its worker held it", 0),
        ("stalled", "stalled", 0),
    ]
    assert (found.present, found.present_since) == ("stalled", 960.7)
    assert found.totals == (("waited", "15 min"), ("ran", "1 min"))


def test_a_job_in_its_grace_period_runs_still_and_is_stalled_after_it():
    history = put(0), popped(10), happened("timed-out", 80)

    running = lived(*history, state="running", now=85, expires=90)
    stalled = lived(*history, state="stalled", now=95, expires=90)

    assert drawn(running)[2:] == [("run", "running", 1)]
    assert drawn(stalled)[2:] == [
        ("run", "10 s, while its worker held it", 1),
        ("stalled", "stalled", 1),
    ]
    assert (stalled.lost, stalled.ran) == (70, 10)


def test_what_attempts_took_is_counted_over_all_of_them():
    found = lived(
        put(0), popped(10), happened("failed", 15), put(100), popped(103),
        happened("timed-out", 163), popped(165), happened("done", 169),
    )  # fmt: skip

    assert found.totals == (("waited", "15 s"), ("ran", "9 s"), ("lost to time-outs", "1 min"))


def test_trimmed_items_are_a_gap_and_no_length_is_made_up():
    found = lived(put(0), popped(500), happened("done", 510), trimmed=True)

    assert drawn(found) == [("gap", "not recorded", 0), ("run", "10 s · completed", 1)]
    # Nobody knows which attempt it was.
    assert table(found) == [
        (None, "", "not recorded", None, None),
        (None, "w", "completed", None, 10),
    ]
    assert bars(found)[0][0].width > 5
    assert [event.gap for event in found.events] == [False, True, False]
    assert found.events[1].after is None


def test_a_night_in_which_nothing_happens_is_cut():
    night = 8 * 3_600
    found = lived(
        put(0), popped(10), happened("failed", 20),
        put(night), popped(night + 10), happened("done", night + 20),
    )  # fmt: skip

    (cut,) = found.cuts
    assert cut.text == "7 h 59 min are left out here"
    before, _, after, _ = (bar for bar, _ in bars(found))
    assert before.width == pytest.approx(after.width, abs=0.01)
    assert before.width > 20
    assert [tick.text for tick in found.ticks] == ["0", "+8 h"]
    assert found.ticks[1].at == pytest.approx(after.x, abs=0.01)
    assert found.ticks[1].at == pytest.approx(cut.x + cut.width, abs=0.01)


def test_a_pause_that_is_not_longer_than_the_rest_is_to_scale():
    found = lived(
        put(0), popped(10), happened("failed", 20), put(30), popped(40), happened("done", 41)
    )

    assert [bar.x for bar, _ in bars(found)] == [
        pytest.approx(100 * at / 41, abs=0.01) for at in (0, 10, 30, 40)
    ]


def test_a_mark_stays_with_its_run_behind_a_cut():
    found = lived(
        put(0), popped(10), happened("failed", 20),
        put(9_000), popped(9_010), happened("half", 9_015), happened("done", 9_020),
    )  # fmt: skip

    run = bars(found)[-1][0]
    (mark,) = found.attempts[-1].lane.marks
    assert run.x < mark.at < run.x + run.width


def test_log_entries_are_marks():
    found = lived(put(0), popped(10), happened("half way", 15, rows=12), happened("done", 20))

    assert [(mark.text, mark.at) for mark in marks(found)] == [("half way", 75)]
    assert found.logged == 1


def test_a_thousand_log_lines_make_few_marks_that_say_how_many_they_stand_for():
    lines = [happened(f"step {number}", 10 + number) for number in range(1_000)]

    found = lived(put(0), popped(10), *lines, happened("done", 1_010))

    assert len(marks(found)) < 100
    assert marks(found)[0].text.startswith("step 0, step 1, step 2, step 3, step 4 and ")
    assert found.logged == 1_000


def test_a_log_line_that_is_more_than_flat_is_shown_as_data():
    item = Happening("half", 1, {"rows": [1, 2]}, '[1,"half",{"rows":[1,2]}]')

    (event,) = lived(item).events

    assert event.said == ""
    assert [each.key for each in event.detail.children] == ["rows"]


def test_each_attempt_knows_its_queue_and_its_worker():
    found = lived(
        put(0), popped(1, "a"), happened("failed", 2), happened("put", 3, q="other"),
        popped(4, "b"), happened("timed-out", 5), popped(6, "c"), state="running",
    )  # fmt: skip

    places = [(each.queue, each.worker, each.outcome) for each in found.attempts]
    assert places == [
        ("mail", "a", "failed"), ("other", "b", "timed out"), ("other", "c", "running"),
    ]  # fmt: skip
    assert found.attempts[2].runs_since == 6


def test_integers_of_a_log_entry_stay_integers():
    item = Happening("half", 1, {"pid": 1234}, '[1,"half",{"pid":1234,"id":12345678901234567890}]')

    (event,) = lived(item).events

    assert (event.said, event.detail) == ("pid 1234, id 12345678901234567890", None)


def test_events_name_places_with_links_and_the_time_since_the_one_before():
    failed = happened("failed", 70, worker="w", group="g")
    newest, _, oldest = lived(put(0), popped(10), failed, state="failed").events

    assert [(word, name) for word, name, _ in newest.places] == [("worker", "w"), ("group", "g")]
    assert newest.after == 60
    assert [(word, name) for word, name, _ in oldest.places] == [("queue", "mail")]
    assert oldest.after is None


def test_the_sibling_dialect_names_its_queue_another_way():
    (event,) = lived(happened("put", 1, queue="mail")).events

    assert event.places[0][1] == "mail"


def test_only_the_newest_attempts_are_drawn_but_all_are_in_the_table():
    history = [put(0)]
    for number in range(30):
        history += [
            popped(10 * number + 5),
            happened("failed", 10 * number + 6),
            put(10 * number + 7),
        ]

    found = lived(*history, state="waiting")

    assert max(bar[2] for bar in drawn(found)) == LANES - 1
    assert [len(found.attempts), len(found.earlier)] == [LANES, 31 - LANES]
    assert [each.number for each in found.earlier] == list(range(1, 32 - LANES))
    assert {each.outcome for each in found.earlier} == {"failed"}
    assert {each.lane.bars for each in found.earlier} == {()}
    assert len(found.events) == len(history)


def test_b54_clocks_that_differ_make_no_negative_lengths():
    found = lived(put(1_000), popped(900), happened("done", 950), now=800)

    assert all(bar.width >= 0 and 0 <= bar.x <= 100 for bar, _ in bars(found))
    assert all(event.after is None or event.after >= 0 for event in found.events)
    assert found.waited == 0


def test_no_history_draws_nothing():
    assert lived().attempts == ()
    assert lived(Happening("put", None, {})).attempts == ()
