"""An outage of Redis is told once, then each minute, then its end."""

from __future__ import annotations

from qless_core.testing import FrozenClock
from qless_web.outage import Outage


def test_an_outage_is_told_at_first_each_minute_and_at_its_end(caplog):
    clock = FrozenClock(1_000.0)
    outage = Outage(clock)

    outage.is_over("redis://there")
    for _ in range(150):
        outage.goes_on("redis://there", "refused")
        clock.advance(1.0)
    outage.is_over("redis://there")
    outage.is_over("redis://there")
    outage.goes_on("redis://there", "refused again")

    assert caplog.messages == [
        "Redis at redis://there: refused",
        "Redis at redis://there, still, after 1 min: refused",
        "Redis at redis://there, still, after 2 min: refused",
        "Redis at redis://there is back, after 2 min 30 s",
        "Redis at redis://there: refused again",
    ]
