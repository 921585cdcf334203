"""A made-up shop on a Redis of its own, so that every page has something true to show."""

from __future__ import annotations
