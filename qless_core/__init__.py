"""qless for Python: a job queue whose rules run inside Redis."""

from __future__ import annotations
