"""A class of the program that runs is stored under the name by which a worker imports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qless_core.job_class import klass_name_of
from qless_core.main_module import name_elsewhere

ROOT = Path(__file__).parents[2]

PROGRAM = """
from qless_core import Job
from qless_core.job_class import klass_name_of

class Mail:
    class Inner: ...

    @staticmethod
    def process(job):
        return "ran"

if __name__ == "__main__":
    print(Job.build(Mail).perform())
    print(klass_name_of(Mail.Inner))
"""


def run(*arguments, cwd, text=None):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PYTHONPATH": f"{ROOT}"},
        capture_output=True,
        text=True,
        input=text,
        timeout=60,
        check=False,
    )
    return done.stdout.splitlines(), done.stderr


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop").mkdir()
    for name in ("shop/__init__.py", "shop/jobs.py", "shop/__main__.py", "my-jobs.py"):
        (tmp_path / name).write_text("" if "__init__" in name else PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["-m", "shop.jobs"], "shop.jobs.Mail.Inner"),
        (["-m", "shop"], "shop.__main__.Mail.Inner"),
        (["shop/jobs.py"], "jobs.Mail.Inner"),
    ],
)
def test_a_class_of_a_program_has_the_name_of_its_module(shop, arguments, name):
    assert run(*arguments, cwd=shop) == (["ran", name], "")


@pytest.mark.parametrize("arguments", [["my-jobs.py"], ["-c", PROGRAM], ["-"], ["shop"]])
def test_one_that_nobody_can_import_is_refused_but_runs_here(shop, arguments):
    said, complaint = run(*arguments, cwd=shop, text=PROGRAM if arguments == ["-"] else None)

    assert said == ["ran"]
    assert "__main__.Mail.Inner is part of the program that runs" in complaint


def test_a_file_of_the_same_name_elsewhere_is_not_taken_for_it(shop):
    """`json.py` would be found as the json of Python."""
    (shop / "deep").mkdir()
    (shop / "deep" / "wave.py").write_text(f"import sys; del sys.path[0]\n{PROGRAM}")

    said, complaint = run("deep/wave.py", cwd=shop)

    assert said == ["ran"]
    assert "is part of the program that runs" in complaint


def test_other_modules_keep_their_name():
    assert name_elsewhere("shop.jobs") == "shop.jobs"


@pytest.mark.parametrize("name", ["app.jobs.Mail", "App::Mail", "App\\Jobs\\Mail", "mail/send"])
def test_names_of_other_languages_pass(name):
    assert klass_name_of(name) == name
