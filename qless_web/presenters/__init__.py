"""Presenters: snapshots and one ``now`` become frozen dataclasses a template can print."""

from __future__ import annotations
