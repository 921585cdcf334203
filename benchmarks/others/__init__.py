"""What others run jobs with, one module each, for `benchmarks/workers.py`.

Each has `put`, which puts one job that does nothing but leave its mark, and what its worker needs
to find that job. They are imported in environments of their own, where only that rival is
installed; `requirements.txt` says what, `environments.py` makes them.
"""

from __future__ import annotations
