"""Queues are placed alike everywhere, evenly, and stay where they are when shards come and go."""

from __future__ import annotations

from collections import Counter

import pytest

from qless_core.errors import BadArgument
from qless_core.shards import Placement

QUEUES = [f"queue-{number}" for number in range(3000)]
SHARDS = ["a", "b", "c", "d"]


def test_every_process_places_a_queue_alike_whatever_the_order_of_the_shards():
    forth, back = Placement(SHARDS), Placement(SHARDS[::-1])

    assert [forth.of(queue) for queue in QUEUES] == [back.of(queue) for queue in QUEUES]


def test_where_some_queues_are_stays_so_between_versions():
    """Who changes these has to move the jobs of everybody."""
    placed = [Placement(SHARDS).of(queue) for queue in ("mail", "bill", "", "\udcff", "日本")]

    assert placed == ["c", "a", "b", "a", "d"]


def test_queues_are_spread_evenly():
    counts = Counter(map(Placement(SHARDS).of, QUEUES))

    assert all(600 < counts[shard] < 900 for shard in SHARDS), counts


def test_a_new_shard_takes_its_share_and_no_other_queue_moves():
    before, after = Placement(SHARDS), Placement([*SHARDS, "e"])
    moved = {queue for queue in QUEUES if before.of(queue) != after.of(queue)}

    assert {after.of(queue) for queue in moved} == {"e"}
    assert 450 < len(moved) < 750


def test_a_pin_places_by_hand():
    placement = Placement(SHARDS, dict.fromkeys(QUEUES[:9], "c"))

    assert {placement.of(queue) for queue in QUEUES[:9]} == {"c"}


def test_a_pin_to_no_shard_is_refused():
    with pytest.raises(BadArgument, match="'mail' is pinned to 'x'; there are 'a', 'b'"):
        Placement(["a", "b"], {"mail": "x"})
