"""What is made up in a shop that tests only look at, for addresses that name it."""

from __future__ import annotations

#: Names in addresses: the id of its operation, once there is one.
THERE = {"operation": "0123456789abcdef"}
