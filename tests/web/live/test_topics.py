from __future__ import annotations

import pytest

from qless_core import events
from qless_web.live.topics import EVERYTHING, known, mark_of, topics_of

AWKWARD = ["default", "a/b", "..", "ü ~2F", "q?x#y", "<b>", "a,b", "a:b", "\udcff"]


@pytest.mark.parametrize("name", AWKWARD)
def test_a_put_touches_its_queue_and_its_job_whatever_they_are_called(name):
    touched = topics_of(events.Put(jid=name, queue=name))

    assert touched == {"queues", f"queue:{name}", f"job:{name}"}
    assert known(touched) == touched


@pytest.mark.parametrize(
    ("event", "touched"),
    [
        (events.Completed("j", "q"), {"queues", "completed", "queue:q", "job:j"}),
        (events.Advanced("j", "q", "r"), {"queues", "queue:q", "queue:r", "job:j"}),
        (
            events.Failed("j", "g", "m", "w"),
            {"queues", "failures", "workers", "failed:g", "job:j", "worker:w"},
        ),
        (events.Canceled("j", "q", ""), {"queues", "queue:q", "job:j"}),
        (events.Canceled("j", "q", "w"), {"queues", "queue:q", "job:j", "worker:w"}),
        (events.LockLost("j", "w"), {"queues", "workers", "job:j", "worker:w"}),
        (events.Tracked("j", "popped"), {"tracked", "job:j"}),
        (events.ConfigSet("heartbeat", "60"), {"config"}),
        (events.ConfigUnset("heartbeat"), {"config"}),
        (events.ToWorker("j", "canceled", "w"), set()),
    ],
)
def test_each_event_touches_what_it_tells_of(event, touched):
    assert topics_of(event) == touched
    assert known(touched) == touched


def test_every_event_of_the_log_is_known():
    kinds = {each for each in vars(events).values() if isinstance(each, type)}
    told = {each for each in kinds if issubclass(each, events.Event)}
    told -= {events.Event, events.JobEvent}

    assert {kind for kind in told if not _touches_something(kind)} == {events.ToWorker}


def _touches_something(kind):
    return bool(topics_of(kind(**dict.fromkeys(kind.__dataclass_fields__, "x"))))


def test_what_is_no_topic_is_left_out():
    asked = {"queues", "queue:", "queue:a", "nonsense", "nonsense:a", "", ":", "queues:a", "job"}

    assert known(asked) == {"queues", "queue:a"}


def test_the_tick_has_a_read_for_every_topic():
    named = {f"{kind}:x" for kind in ("queue", "failed", "job", "worker", "tag")}

    assert all(callable(mark_of(topic, 0)) for topic in EVERYTHING | named | {"rail"})
