"""What `qless_core` has at hand, and when it is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

import qless_core

LOOKS = """
import sys
import qless_core
assert not {found} & {{*sys.modules}}, {found} & {{*sys.modules}}
{then}
"""


def run(then, *absent):
    code = LOOKS.format(found={*absent}, then=then)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_what_takes_long_is_imported_when_it_is_asked_for():
    then = "from qless_core import Client; assert 'qless_core.worker.forking' not in sys.modules"

    done = run(then, "redis", "qless_core.client", "qless_core.worker")

    assert (done.returncode, done.stderr) == (0, "")


def test_all_that_it_names_is_there():
    then = "from qless_core import *; print(*(each.__name__ for each in (Client, LockLost)))"

    assert run(then).stdout == "Client LockLost\n"
    assert [name for name in qless_core.__all__ if getattr(qless_core, name, None) is None] == []
    assert {*qless_core.__all__} <= {*dir(qless_core)}


def test_what_it_has_not_is_said_as_of_any_module():
    with pytest.raises(AttributeError, match="module 'qless_core' has no attribute 'Nothing'"):
        qless_core.Nothing  # noqa: B018 - it is looked at
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from qless_core import Nothing")  # noqa: S102 - as a program does it
