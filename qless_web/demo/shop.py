from __future__ import annotations
from contextlib import contextmanager
@contextmanager
def open_shop(url, namespace):
    yield
