"""The console as a process: a listening port, a web server, a daemon with its pid file."""

from __future__ import annotations
