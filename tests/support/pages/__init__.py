"""The console as an operator sees it: by words and roles, never by selectors."""

from __future__ import annotations

from tests.support.pages.console import ConsolePage

__all__ = ["ConsolePage"]
