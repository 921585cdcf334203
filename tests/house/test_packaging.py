"""What is in the source tree is in the wheel, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

from tests.support.processes import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=False,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as opened:
        yield opened


def test_every_file_of_the_packages_is_in_the_wheel(wheel):
    sources = {
        str(path.relative_to(ROOT))
        for package in ("qless_core", "qless_web")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}

    assert packed == sources
    for kind in (".lua", ".html", ".css", ".js", "py.typed"):
        assert any(name.endswith(kind) for name in packed), kind


def test_the_wheel_gives_the_commands_and_the_licence(wheel):
    names = {name.partition(".dist-info/")[2]: name for name in wheel.namelist()}
    commands = wheel.read(names["entry_points.txt"]).decode()

    assert "qless = qless_core.cli:main" in commands
    assert "qless-config = qless_core.config_command:main" in commands
    assert "qless-stats = qless_core.metrics.command:main" in commands
    assert "qless-web = qless_web.cli:main" in commands
    assert "licenses/LICENSE" in names


def test_the_wheel_is_for_every_python_and_system(wheel):
    assert wheel.filename.endswith("-py3-none-any.whl")
