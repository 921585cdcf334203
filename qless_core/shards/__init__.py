"""Several qless as one: queues are placed on shards, and found wherever their jobs are."""

from __future__ import annotations

from qless_core.shards.client import ShardedClient
from qless_core.shards.placement import Placement

__all__ = ["Placement", "ShardedClient"]
