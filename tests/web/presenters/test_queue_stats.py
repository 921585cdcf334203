"""A day of a queue's statistics."""

from __future__ import annotations

import pytest

from qless_core.histogram import STARTS
from qless_core.reads.queues import QueueDay, QueueDetail, QueueSummary
from qless_web.formatting import UNKNOWN
from qless_web.minutes import Minutes
from qless_web.presenters.queue_stats import day_of, histogram, queue_stats, timing

_TWO = "\N{ARABIC-INDIC DIGIT TWO}"
NOW = 1_700_000_000.0
TODAY = 1_699_920_000
NOTHING = Minutes(0, ())


def a_queue(**fields):
    counts = QueueSummary("mail", 0, 0, 0, 0, 0, 0, paused=False)
    return QueueDetail(counts=counts, known=True, **fields)


@pytest.mark.parametrize(
    ("field", "start"),
    [
        *[("s0", 0), ("s59", 59), ("m1", 60), ("m59", 3540), ("h1", 3600), ("h23", 82_800)],
        *[("d1", 86_400), ("d6", 518_400), ("d40", 518_400), ("s-100", 0)],
    ],
)
def test_every_bin_has_its_place(field, start):
    counts = {STARTS[at]: count for at, count in enumerate(histogram({field: "2"}).counts) if count}

    assert counts == {start: 2}


def test_all_bins_together_are_those_of_the_layout():
    fields = [f"s{n}" for n in range(60)] + [f"m{n}" for n in range(1, 60)]
    fields += [f"h{n}" for n in range(1, 24)] + [f"d{n}" for n in range(1, 7)]

    assert histogram(dict.fromkeys(fields, "1")).counts == (1,) * 148


def test_what_is_no_bin_is_left_out():
    assert histogram({"total": "9", "mean": "1", "s": "1", "x1": "1", "s1": "garbage"}).total == 0


def test_the_deviation_is_that_of_a_sample():
    shown = dict(
        timing({"total": "3", "mean": "4", "vk": "8", "s2": "1", "s4": "1", "s6": "1"}).figures
    )

    assert shown["mean"] == "4 s"
    assert shown["deviation"] == "2 s"


def test_one_measurement_has_no_deviation_and_none_has_nothing():
    assert (
        dict(timing({"total": "1", "mean": "4", "vk": "0", "s4": "1"}).figures)["deviation"]
        == "0 s"
    )
    assert dict(timing({}).figures) == {"mean": UNKNOWN, "deviation": UNKNOWN}
    assert timing({}).chart.columns == ()


def test_what_is_below_a_second_is_not_said_more_exactly_than_it_is_known():
    shown = timing({"total": "2", "mean": "0.2", "vk": "0", "s0": "2"})

    assert dict(shown.figures)["median"] == "< 1 s"
    assert dict(shown.figures)["mean"] == "200 ms"


def test_a_few_bars_leave_room_beside_them():
    assert len(timing({"total": "1", "mean": "1", "s1": "1"}).chart.columns) == 8
    assert len(timing({"total": "1", "mean": "1", "d6": "1"}).chart.columns) == 8


def test_negative_counts_are_none():
    """B54, and the original's 7th defect."""
    shown = queue_stats(a_queue(stats={"failed": "-2", "failures": "nan"}), NOTHING, None, NOW)

    assert (shown.failed, shown.failures, shown.retries) == (0, 0, 0)


def test_the_days_lead_to_each_other():
    today = queue_stats(a_queue(), NOTHING, None, NOW)
    before = queue_stats(a_queue(), NOTHING, TODAY - 86_400, NOW)

    assert (today.day, today.is_today, today.next) == ("2023-11-14", True, None)
    assert today.previous.values["date"] == "2023-11-13"
    assert before.next is not None
    assert "date" not in before.next.values


def test_a_day_stacks_what_completed_on_what_failed():
    days = (QueueDay(TODAY - 86_400, 0, 0), QueueDay(TODAY, 6, 4))

    shown = queue_stats(a_queue(days=days), NOTHING, None, NOW)

    bar, failures = shown.days[1].bar, shown.days[1].failures
    assert shown.busiest == 10
    assert bar.height + failures.height == pytest.approx(shown.days_height)
    assert bar.y + bar.height == pytest.approx(failures.y)
    assert shown.days[0].bar.height == 0
    assert [day.is_shown for day in shown.days] == [False, True]


@pytest.mark.parametrize(
    "text", ["nan", "", None, "2024-02-30", "20240101", "2024-1-1", f"202{_TWO}-01-01"]
)
def test_what_is_no_day_is_today(text):
    """B24."""
    assert day_of(text) is None


def test_the_first_and_the_last_day_there_is_can_be_shown():
    for text in ("0001-01-01", "9999-12-31"):
        shown = queue_stats(a_queue(), NOTHING, day_of(text), NOW)

        assert shown.day == text
