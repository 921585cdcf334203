"""Processes that run jobs; `client.workers` reads who they are."""

from __future__ import annotations
