"""The console as an operator sees it: by words and roles; selectors stay in here."""

from __future__ import annotations

from tests.support.pages.console import ConsolePage

__all__ = ["ConsolePage"]
