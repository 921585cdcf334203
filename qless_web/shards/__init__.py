"""Several servers as the shards of one queue: pages that show what all of them have."""

from __future__ import annotations

from qless_web.shards.pages import install

__all__ = ["install"]
