"""What keeps the console from starting."""

from __future__ import annotations


class StartError(Exception):
    """Raised when the console cannot start; the message is one sentence for the operator."""
