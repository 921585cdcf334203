"""The parts of `benchmarks/chaos.py`: jobs, what puts them, what kills, and what judges."""

from __future__ import annotations
