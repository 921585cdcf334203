"""A day by minute as a chart, an hour as a spark."""

from __future__ import annotations

import re

from qless_web.minutes import DAY, HOUR, Minute, Minutes
from qless_web.presenters.throughput import spark, throughput
from qless_web.triage.deploys import Deploy

#: The minute that begins at 2023-11-15 00:00 UTC.
MIDNIGHT = 1_700_006_400 // 60
IDLE = Minute(0, 0)


def day(**at):
    """Make a day that ends at midnight, idle but at some minutes: m5=Minute(1, 0)."""
    counts = [IDLE] * DAY
    for name, minute in at.items():
        counts[int(name[1:])] = minute
    return Minutes(MIDNIGHT, tuple(counts))


def moves(path):
    return re.findall(r"M(\d+) (\d+)v(-?\d+)h(\d+)", path)


def test_completed_jobs_stand_on_the_axis_and_failures_hang_below():
    chart = throughput(day(m10=Minute(10, 2), m11=Minute(5, 0)))

    assert moves(chart.completed) == [("10", "72", "-72", "1"), ("11", "72", "-36", "1")]
    assert moves(chart.failures) == [("10", "0", "28", "1")]
    assert (chart.most_completed, chart.most_failures) == (10, 2)


def test_what_is_there_is_drawn_however_little():
    chart = throughput(day(m1=Minute(1_000_000, 1_000_000), m2=Minute(1, 1)))

    assert moves(chart.completed)[1][2] == "-1"
    assert moves(chart.failures)[1][2] == "1"


def test_equal_minutes_are_one_step():
    chart = throughput(Minutes(MIDNIGHT, (Minute(3, 0),) * DAY))

    assert moves(chart.completed) == [("0", "72", "-43", str(DAY))]


def test_a_gap_is_no_zero():
    counts = (Minute(1, 0), *(None,) * 719, *(IDLE,) * 720)
    chart = throughput(Minutes(MIDNIGHT, counts))

    (gap,) = chart.gaps
    assert (gap.text, gap.has_room) == ("719 minutes not counted", True)
    assert (gap.x, gap.width) == (0.069, 49.931)
    assert chart.label == "1 completed, 0 failures; 719 minutes not counted"


def test_a_deploy_is_a_line_where_it_was_and_named_in_words_and_in_the_table():
    end = MIDNIGHT * 60
    marks = [Deploy(f"v{back}", end - 3600 * back + 60) for back in (0, 1, 6, 12, 18, 25)]
    chart = throughput(day(m10=Minute(1, 0)), marks)

    assert [each.x for each in chart.deploys] == [95.903, 75.069, 50.069, 25.069]
    assert chart.deploys[0].text == "deploy v1, 2023-11-14 23:01 UTC"
    assert chart.label.endswith("0 failures; deploys v1, v6, v12 and 1 more")
    assert [row.deploys for row in chart.rows if row.deploys] == ["v1", "v6", "v12", "v18"]


def test_the_table_has_the_hours_the_newest_first():
    counts = (*(None,) * 1_410, *(Minute(2, 1),) * 30)
    rows = throughput(Minutes(MIDNIGHT + 30, counts)).rows

    assert len(rows) == 25
    assert (rows[0].hour, rows[0].completed, rows[0].failures) == ("2023-11-15 00:00", 60, 30)
    assert (rows[0].most, rows[0].missed) == (2, 0)
    assert (rows[1].hour, rows[1].missed) == ("2023-11-14 23:00", 60)
    assert (rows[-1].hour, rows[-1].missed) == ("2023-11-14 00:00", 30)


def test_where_nothing_was_counted_there_is_no_chart():
    assert not throughput(Minutes(MIDNIGHT, (None,) * DAY)).known
    assert not throughput(Minutes(MIDNIGHT, ())).known
    assert spark(Minutes(MIDNIGHT, (None,) * HOUR)) is None


def test_the_busiest_day_there_can_be_stays_small():
    counts = tuple(Minute(index % 977, index % 13) for index in range(DAY))
    chart = throughput(Minutes(MIDNIGHT, counts))

    assert len(chart.completed) + len(chart.failures) < 60_000


def test_a_spark_says_its_hour_in_words_and_breaks_at_gaps():
    counts = (Minute(4, 0), Minute(2, 1), *(None,) * 10, *(IDLE,) * 48)
    found = spark(Minutes(MIDNIGHT, counts))

    assert found.label == "last hour: 6 completed, 1 failure; 10 minutes not counted"
    assert found.line.count("M") == 2
    assert found.failures == "M2 20v-5"
    assert (found.width, found.height) == (80, 20)
