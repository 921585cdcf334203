"""A module of jobs that cannot be imported."""

from __future__ import annotations

import no_such_module_anywhere  # noqa: F401 - the fault that the tests look for
