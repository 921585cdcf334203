"""The cases run the script as its own tests do: on every server there is."""

from __future__ import annotations

from tests.lua.conftest import lua, script, server

__all__ = ["lua", "script", "server"]
