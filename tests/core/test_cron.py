from __future__ import annotations

import datetime as dt
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qless_core.cron import AHEAD, AT_LEAST, HORIZON_S, LONGEST, NAMED, OWED, Cron
from qless_core.errors import BadArgument

BERLIN = ZoneInfo("Europe/Berlin")


def at(text, zone=BERLIN):
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def runs(expression, after, count, zone="Europe/Berlin"):
    """List the next runs as clocks of the zone show them, with what they are ahead of UTC."""
    found = islice(Cron(expression, zone).after(after), count)
    return [
        dt.datetime.fromtimestamp(run, ZoneInfo(zone)).strftime("%m-%d %H:%M%z") for run in found
    ]


def test_an_expression_is_read_in_its_time_zone():
    noon = at("2026-01-15T12:00")

    assert runs("0 9 * * 1-5", noon, 2) == ["01-16 09:00+0100", "01-19 09:00+0100"]
    assert runs("0 9 * * 1-5", noon, 2, "Asia/Kolkata") == ["01-16 09:00+0530", "01-19 09:00+0530"]
    assert next(Cron("30 6 * * *").after(0)) == 6.5 * 3600


def test_a_run_at_the_very_moment_is_not_after_it():
    cron = Cron("*/5 * * * *")

    assert next(cron.after(300)) == 600
    assert next(cron.after(299.5)) == 300
    assert next(cron.after(300.5)) == 600


def test_six_fields_begin_with_seconds():
    assert list(islice(Cron("*/20 * * * * *").after(0), 3)) == [20, 40, 60]


@pytest.mark.parametrize(
    ("name", "fields"),
    [("@daily", "0 0 * * *"), (" @Hourly ", "0 * * * *"), ("@weekly", "0 0 * * 0")],
)
def test_a_name_stands_for_fields(name, fields):
    assert Cron(name).expression == fields


def test_every_name_can_be_read():
    for name in NAMED:
        assert next(Cron(name).after(0)) > 0


def test_a_name_that_stands_for_nothing_is_refused():
    with pytest.raises(BadArgument, match=r"'@reboot' is no cron expression: there are @yearly"):
        Cron("@reboot")


def test_a_time_zone_may_be_given_as_itself():
    assert Cron("* * * * *", BERLIN) == Cron("* * * * *", "Europe/Berlin")
    assert Cron("* * * * *", dt.UTC) == Cron("* * * * *", ZoneInfo("UTC")) == Cron("* * * * *")


def test_a_time_zone_without_a_name_is_refused():
    with pytest.raises(BadArgument, match="needs a name, as Europe/Berlin"):
        Cron("* * * * *", dt.timezone(dt.timedelta(hours=1)))


def test_blanks_do_not_matter():
    assert Cron("  */5 *  * *\t* ") == Cron("*/5 * * * *")


def test_what_is_due_in_the_hour_that_is_left_out_comes_right_after_it():
    spring = at("2026-03-28T12:00")

    assert runs("30 2 * * *", spring, 2) == ["03-29 03:00+0200", "03-30 02:30+0200"]
    assert runs("0,30 2 * * *", spring, 2) == ["03-29 03:00+0200", "03-30 02:00+0200"]
    assert runs("0 * * * *", at("2026-03-29T00:30"), 3) == [
        "03-29 01:00+0100",
        "03-29 03:00+0200",
        "03-29 04:00+0200",
    ]


def test_what_is_due_in_the_hour_that_comes_twice_comes_once():
    autumn = at("2026-10-24T12:00")

    assert runs("30 2 * * *", autumn, 2) == ["10-25 02:30+0200", "10-26 02:30+0100"]


def test_what_is_due_all_the_time_goes_on_through_the_hour_that_comes_twice():
    assert runs("*/30 * * * *", at("2026-10-25T01:59"), 5) == [
        "10-25 02:00+0200",
        "10-25 02:30+0200",
        "10-25 02:00+0100",
        "10-25 02:30+0100",
        "10-25 03:00+0100",
    ]


def test_seen_from_its_second_pass_an_hour_is_past():
    second_pass = dt.datetime(2026, 10, 25, 2, 10, tzinfo=BERLIN, fold=1).timestamp()

    assert runs("30 2 * * *", second_pass, 1) == ["10-26 02:30+0100"]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "is no cron expression: wrong number of fields"),
        ("* * * *", "is no cron expression: wrong number of fields"),
        ("@", "'@' is no cron expression: there are @yearly"),
        ("61 * * * *", "'61 * * * *' is no cron expression: bad minute"),
        ("* 24 * * *", "bad hour"),
        ("*/0 * * * *", "bad minute"),
        ("5-1 * * * *", "bad minute"),
        ("* * * * MOO", "bad day-of-week"),
        ("0 0 30 2 *", "bad day-of-month"),
        ("* * */20 * 1L", "never comes"),
        ("*," * LONGEST + " * * * *", "at most 500 characters"),
        (None, "must be text"),
        (5, "must be text"),
    ],
)
def test_b23_what_cannot_be_read_is_refused_with_the_reason(expression, reason):
    with pytest.raises(BadArgument, match=reason.replace("*", r"\*")):
        Cron(expression)


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "Europe", "../etc/passwd", "Europe/Berlin\0", "\ud800", None, 5]
)
def test_a_time_zone_that_is_none_is_refused(name):
    with pytest.raises(BadArgument, match="there is no time zone"):
        Cron("* * * * *", name)


def test_a_system_without_time_zones_says_so(monkeypatch):
    monkeypatch.setattr("qless_core.cron.available_timezones", set)

    with pytest.raises(BadArgument, match="install tzdata"):
        Cron("* * * * *", "Mars/Olympus")
    assert Cron("* * * * *", "UTC").plan(0, 0)[:2] == [60, 120]


def test_a_plan_goes_as_far_ahead_as_it_has_to():
    now = at("2026-01-15T12:00")

    assert len(Cron("* * * * *").plan(now, now)) == AHEAD
    daily = Cron("0 3 * * *").plan(now, now)
    assert len(daily) == 7
    assert daily[-1] <= now + HORIZON_S
    assert len(Cron("0 0 29 2 *").plan(now, now)) == AT_LEAST


def test_b57_a_plan_has_what_is_owed_before_what_is_to_come():
    now = at("2026-01-15T12:00")

    assert Cron("0 * * * *").plan(now - 4 * 3600, now)[:5] == [
        now - 3 * 3600,
        now - 2 * 3600,
        now - 3600,
        now,
        now + 3600,
    ]


def test_b57_more_than_a_plan_holds_is_owed_to_the_next_one():
    now = at("2026-01-15T12:00")
    since = now - 2 * OWED * 60

    first = Cron("* * * * *").plan(since, now)
    second = Cron("* * * * *").plan(first[-1], now)

    assert first == [since + 60 * number for number in range(1, OWED + 1)]
    assert second[: OWED + 1] == [first[-1] + 60 * number for number in range(1, OWED + 2)]
    assert second[OWED - 1] == now


@pytest.mark.parametrize("backlog", [1, 3, 50, 10_000])
def test_b57_with_a_backlog_only_the_last_runs_are_owed(backlog):
    now = at("2026-01-15T12:00")

    planned = Cron("*/10 * * * * *").plan(now - 30 * 86400, now, backlog)

    owed = [run for run in planned if run <= now]
    assert owed[-1] == now
    assert min(backlog + 1, OWED) == len(owed)
    assert len(planned) == len(owed) + AHEAD


def test_b57_a_backlog_makes_up_for_no_more_than_was_missed():
    now = at("2026-01-15T12:00")

    assert Cron("0 * * * *").plan(now - 7200, now, 10)[:3] == [now - 3600, now, now + 3600]


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"]
#: Days of 2026 just before clocks change somewhere.
CHANGES = (66, 86, 93, 113, 276, 296, 297, 303, 304)
FIELDS = ("*", "*/7", "0", "30", "0,30", "15-45/10")


@settings(deadline=None)
@given(
    minute=st.sampled_from(FIELDS),
    hour=st.sampled_from(["*", "*/2", "0", "1-3", "2"]),
    zone=st.sampled_from(ZONES),
    day=st.one_of(st.sampled_from(CHANGES), st.integers(0, 365)),
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=5),
)
def test_it_does_not_matter_where_one_plan_ends_and_the_next_begins(minute, hour, zone, day, cuts):
    cron = Cron(f"{minute} {hour} * * *", zone)
    start = at("2026-01-01T00:00") + day * 86400
    whole = list(islice(cron.after(start), sum(cuts)))

    parts = []
    for count in cuts:
        parts += islice(cron.after(parts[-1] if parts else start), count)

    assert parts == whole
    assert whole == sorted(set(whole))
    late = whole[len(whole) // 2] + 1
    assert list(takewhile(lambda run: run <= whole[-1], cron.after(late))) == [
        run for run in whole if run > late
    ]
