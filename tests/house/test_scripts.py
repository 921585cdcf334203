"""The shell scripts: each function is written once, and sh understands them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [ROOT / name for name in ("qless-web", "test", ".ci/run", "scripts/bootstrap.sh")]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_sh_understands_it(path):
    assert subprocess.run(["sh", "-n", path], check=False, capture_output=True).stderr == b""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_function_is_written_twice(path):
    names = re.findall(r"^(\w+)\(\)", path.read_text(), re.MULTILINE)

    assert sorted(names) == sorted(set(names))
