from __future__ import annotations

import pytest

from qless_web.formatting import duration
from qless_web.presenters import charts


def test_the_parts_of_a_state_bar_are_to_scale_and_follow_one_another():
    bars = charts.state_bar([("waiting", 50), ("running", 25), ("failed", 25)])

    assert [(part.state, part.x, part.width) for part in bars.segments] == [
        ("waiting", 0, 50),
        ("running", 50, 25),
        ("failed", 75, 25),
    ]
    assert bars.label == "50 waiting, 25 running, 25 failed"


def test_a_state_bar_is_to_the_scale_of_the_largest():
    bars = charts.state_bar([("waiting", 10)], full=40)

    assert bars.segments[0].width == 25


def test_one_job_among_a_million_is_seen_and_nothing_sticks_out():
    bars = charts.state_bar([("waiting", 10**6), ("running", 1), ("stalled", 1)])

    assert all(part.width > 0.9 for part in bars.segments)
    assert bars.segments[-1].x + bars.segments[-1].width <= 100.01


def test_states_without_jobs_are_left_out():
    assert charts.state_bar([("waiting", 0), ("running", 0)]) == charts.Bars((), "no jobs")


def test_bins_are_added_up_between_the_edges_that_hold_them():
    bins = [charts.Bin(at, at + 1, 1) for at in range(60)]

    found = charts.rebin(bins)

    assert [(part.low, part.high, part.count) for part in found] == [
        (0, 1, 1),
        (1, 2, 1),
        (2, 5, 3),
        (5, 10, 5),
        (10, 20, 10),
        (20, 30, 10),
        (30, 60, 30),
    ]


def test_empty_ends_are_left_out_and_holes_are_kept():
    found = charts.rebin([charts.Bin(2, 3, 4), charts.Bin(40, 41, 1)])

    assert [part.count for part in found] == [4, 0, 0, 0, 1]


def test_what_lasts_longer_than_the_last_edge_is_counted_there():
    assert charts.rebin([charts.Bin(10**7, 10**7 + 1, 2)])[-1].count == 2


def test_nothing_measured_makes_an_empty_histogram():
    assert charts.histogram(charts.rebin([]), say=duration).columns == ()


def test_a_histogram_has_bars_to_scale_axes_and_the_same_in_words():
    bins = charts.rebin([charts.Bin(0, 1, 10), charts.Bin(1, 2, 5)])

    chart = charts.histogram(bins, say=duration, height=100)

    assert [(bar.x, bar.width, bar.height) for bar in chart.columns] == [(0, 50, 100), (50, 50, 50)]
    assert [tick.text for tick in chart.x_ticks] == ["0 s", "1 s"]
    assert [(tick.at, tick.text) for tick in chart.y_ticks] == [(0, "10")]
    assert chart.rows == (("0 s to 1 s", 10), ("1 s to 2 s", 5))
    assert chart.total == 15


def test_a_mark_lies_inside_its_bar_in_proportion():
    bins = charts.rebin([charts.Bin(0, 1, 10), charts.Bin(1, 2, 5)])

    chart = charts.histogram(bins, marks=[("median", 0.5), ("p95", 9)], say=duration)

    assert [(mark.at, mark.text) for mark in chart.marks] == [
        (25, "median 500 ms"),
        (100, "p95 9 s"),
    ]


def test_a_timeline_is_to_scale():
    spans = [
        charts.Span("wait", 1000, 1025, "waited"),
        charts.Span("run", 1025, 1100, "ran", lane=1),
    ]

    chart = charts.timeline(spans, marks=[("log", 1050, 1)], say=duration)

    drawn = [[(bar.x, bar.width) for bar in lane.bars] for lane in chart.lanes]
    assert drawn == [[(0, 25)], [(25, 75)]]
    marked = [[(mark.at, mark.text) for mark in lane.marks] for lane in chart.lanes]
    assert marked == [[], [(50, "log")]]
    assert [tick.text for tick in chart.ticks] == [
        "0",
        *("+30 s", "+1 min", "+1 min 30 s"),
    ]


def test_a_moment_is_seen_and_stays_inside():
    spans = [charts.Span("wait", 0, 1000, ""), charts.Span("run", 1000, 1000, "")]

    last = charts.timeline(spans, say=duration).lanes[0].bars[-1]

    assert last.width > 0
    assert last.x + last.width <= 100


@pytest.mark.parametrize("length", [0, 1e-6, 0.3, 59, 3600, 86_400 * 400])
def test_a_time_axis_has_a_few_ticks_whatever_the_length(length):
    chart = charts.timeline([charts.Span("run", 5, 5 + length, "")], say=duration)

    assert 1 <= len(chart.ticks) <= 7


def test_no_spans_make_no_timeline():
    assert charts.timeline([], say=duration).lanes == ()
