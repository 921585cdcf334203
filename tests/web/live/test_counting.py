"""What was done in each minute is noted once, by one of all consoles, at a size that has an end."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from qless_core import reads
from qless_core.client import Client
from qless_web import minutes
from qless_web.live.counting import Counting
from qless_web.minutes import Minute
from qless_web.settings import Settings

#: A minute begins, and so does an hour, but no day.
BEGIN = 1_700_002_800.0


@pytest.fixture(autouse=True)
def _whole_hour(clock):
    clock.advance(BEGIN - clock.now())


@pytest.fixture
def counting(client):
    return Counting(client, Settings.build())


def work(client, queue, completed=0, failed=0):
    for number in range(completed + failed):
        client.queues[queue].put("Work", {})
        job = client.queues[queue].pop()
        if number < completed:
            job.complete()
        else:
            job.fail("group", "message")


def ask(client, plan):
    _, (found,) = reads.run(client.redis, client.keys, (plan,), now=client.clock.now())
    return found


def of_day(client, queue=None, many=minutes.DAY):
    return ask(client, minutes.of_day(queue, minutes=many)).counts


def pass_minute(client, clock, counting, **queues):
    """Do work, given as mail=(completed, failed), and look when the minute has ended."""
    for queue, done in queues.items():
        work(client, queue, *done)
    clock.advance(60)
    counting.look()


def our_keys(redis):
    return set(redis.keys("ql:web:*"))


def test_what_was_done_in_a_minute_is_told_for_all_and_by_queue(client, clock, counting):
    counting.look()
    pass_minute(client, clock, counting, mail=(3, 1), video=(2, 0))
    pass_minute(client, clock, counting, mail=(1, 0))

    assert of_day(client, many=3) == (None, Minute(5, 1), Minute(1, 0))
    assert of_day(client, "mail", many=2) == (Minute(3, 1), Minute(1, 0))
    assert of_day(client, "video", many=2) == (Minute(2, 0), Minute(0, 0))
    assert ask(client, minutes.of_hour()).of("video").counts[-2:] == (Minute(2, 0), Minute(0, 0))


def test_minutes_that_nobody_noted_are_gaps_and_not_counted_later(client, clock, counting):
    counting.look()
    pass_minute(client, clock, counting, mail=(1, 0))
    work(client, "mail", completed=5)
    clock.advance(120)
    counting.look()
    pass_minute(client, clock, counting, mail=(2, 0))

    assert of_day(client, "mail", many=4) == (Minute(1, 0), None, None, Minute(2, 0))


def test_a_console_that_comes_late_notes_nothing(client, clock, counting):
    counting.look()
    work(client, "mail", completed=1)
    clock.advance(66)
    counting.look()

    assert of_day(client, many=2) == (None, None)


def test_another_console_goes_on_where_one_ended(client, clock):
    Counting(client, Settings.build()).look()
    for _ in range(3):
        pass_minute(client, clock, Counting(client, Settings.build()), mail=(2, 0))

    assert of_day(client, many=3) == (Minute(2, 0),) * 3


def test_of_consoles_that_look_at_once_one_notes(client, clock, server, redis):
    Counting(client, Settings.build()).look()
    work(client, "mail", completed=4)
    clock.advance(60)
    with Client(server.url, clock=clock) as other:
        consoles = [Counting(each, Settings.build()) for each in (client, other) * 4]
        redis.config_resetstat()
        threads = [threading.Thread(target=each.look) for each in consoles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert redis.info("commandstats")["cmdstat_hset"]["calls"] == 1
    assert of_day(client, many=1) == (Minute(4, 0),)


def test_the_counts_begin_anew_with_the_day(client, clock, counting):
    clock.advance(86_400 - clock.now() % 86_400 - 60)
    work(client, "mail", completed=7)
    counting.look()
    pass_minute(client, clock, counting, mail=(2, 0))
    pass_minute(client, clock, counting, mail=(3, 1))
    pass_minute(client, clock, counting, mail=(1, 0))

    assert of_day(client, many=3) == (Minute(2, 0), Minute(3, 1), Minute(1, 0))


def test_a_queue_that_was_forgotten_and_comes_back_is_counted_once(client, clock, counting):
    counting.look()
    pass_minute(client, clock, counting, mail=(5, 0))
    client.queues["mail"].forget()
    pass_minute(client, clock, counting, video=(1, 0))
    pass_minute(client, clock, counting, mail=(1, 0))

    assert of_day(client, "mail", many=3) == (Minute(5, 0), Minute(0, 0), Minute(1, 0))


def test_what_is_kept_has_an_end(client, clock, counting, redis):
    """A day of more queues than are kept, each with the longest name and the greatest counts."""
    keys = client.keys
    names = [f"{number:04}".ljust(minutes.LONGEST_NAME, "-") for number in range(150)]
    redis.zadd(keys.queues, dict.fromkeys(names, 1))
    day = int(clock.now()) // 86_400 * 86_400
    for at in range(minutes.HOUR + 1):
        for name in names:
            redis.hset(keys.run(day, name), "total", 10**11 * (at + 1))
            redis.hset(keys.stats(day, name), "failures", 10**11 * (at + 1))
        counting.look()
        clock.advance(60)

    hour = minutes.hour_key(keys, int(BEGIN) // 3600)
    fields = redis.hgetall(hour)
    assert len(fields) == minutes.MOST_KEPT + 2
    # Sixty places of two numbers for each field, whatever goes on.
    assert sum(map(len, fields.values())) < (minutes.MOST_KEPT + 2) * 60 * 27
    assert 0 < redis.ttl(hour) <= minutes.HOUR_KEPT_S
    assert len(redis.get(minutes.last_key(keys))) < minutes.MOST_COUNTED * 250
    assert all(redis.ttl(key) > 0 for key in our_keys(redis))
    # An idle queue is told from one that found no room.
    assert set(of_day(client, names[-1], many=minutes.HOUR)) == {None}


def test_a_name_that_is_too_long_is_not_counted(client, clock, counting):
    name = "x" * (minutes.LONGEST_NAME + 1)
    counting.look()
    pass_minute(client, clock, counting, **{name: (1, 0), "mail": (1, 0)})

    assert of_day(client, many=1) == (Minute(1, 0),)
    assert of_day(client, name, many=1) == (None,)


@pytest.mark.parametrize("bad", ["", "x", "{}", '{"minute":1}', '{"minute":1,"counts":[]}', "[1]"])
def test_what_makes_no_sense_is_a_gap(client, clock, counting, redis, bad):
    counting.look()
    redis.set(minutes.last_key(client.keys), bad)
    pass_minute(client, clock, counting, mail=(1, 0))
    assert of_day(client, many=1) == (None,)

    pass_minute(client, clock, counting, mail=(1, 0))
    assert of_day(client, many=1) == (Minute(1, 0),)


def test_only_our_keys_are_written(client, clock, counting, redis):
    work(client, "mail", completed=1)
    before = {key: redis.dump(key) for key in redis.scan_iter()}
    counting.look()
    clock.advance(60)
    counting.look()

    assert our_keys(redis)
    assert {
        key: redis.dump(key) for key in redis.scan_iter() if key not in our_keys(redis)
    } == before


@pytest.mark.parametrize("settings", [{"read_only": True}, {"count_minutes": False}])
def test_where_it_is_off_there_is_no_thread(client, settings):
    counting = Counting(client, Settings.build(**settings))
    counting.start()

    assert not [each for each in threading.enumerate() if each.name == "qless-counting"]


def test_a_user_who_may_only_read_asks_for_no_turn(clock, server, redis):
    rights = ("on", ">secret", "~ql:*", "&ql:*", "+@read", "+@connection", "+info", "+time")
    redis.execute_command("ACL", "SETUSER", "reader", *rights)
    try:
        redis.acl_log_reset()
        url = server.url.replace("://", "://reader:secret@")
        with Client(url, clock=clock) as reader:
            Counting(reader, Settings.build()).look()
        denied = {each["object"] for each in redis.acl_log()}
    finally:
        redis.acl_deluser("reader")

    assert "set" not in denied
    assert our_keys(redis) == set()


#: Looks at the ends of thirty minutes, as fast as it can.
_PROCESS = """
import sys
from qless_core.client import Client
from qless_core.testing import FrozenClock
from qless_web.live.counting import Counting
from qless_web.settings import Settings
clock = FrozenClock(float(sys.argv[2]))
counting = Counting(Client(sys.argv[1], clock=clock), Settings.build())
for _ in range(30):
    counting.look()
    clock.advance(60)
"""


def test_two_processes_take_each_minute_once(client, clock, server, redis):
    work(client, "mail", completed=1)
    redis.config_resetstat()
    command = [sys.executable, "-c", _PROCESS, server.url, repr(clock.now())]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [each.wait(60) for each in processes] == [0, 0]

    # Each asks for thirty turns, and whoever has one writes the counts down.
    assert redis.info("commandstats")["cmdstat_set"]["calls"] == 2 * 30 + 30
    assert len(redis.keys(minutes.turn_key(client.keys, 0)[:-1] + "*")) == 30
