"""What is made up in a shop that tests only look at, for addresses that name it."""

from __future__ import annotations

#: Names in addresses: its operation and one that cancelled a job, once they are there.
THERE = {"operation": "0123456789abcdef", "cancelled": "0123456789abcdef"}
