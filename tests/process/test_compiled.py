"""Compiled templates are kept, used while their source is the same, and never needed."""

from __future__ import annotations

import gc
import shutil
import sys
from pathlib import Path

import pytest
from flask import Flask

import qless_web
from qless_web import create_app
from qless_web.process.compiled import compile_first_page, keep_compiled, keep_start


@pytest.fixture
def app(tmp_path, monkeypatch):
    """Make apps with templates of their own, in a folder that a test may do anything with."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text("first")

    def app():
        made = Flask("made", root_path=str(tmp_path))
        keep_compiled(made)
        return made

    return app


def shown(app):
    return app.jinja_env.get_template("page.html").render()


def test_a_template_is_compiled_once_for_several_starts(app, tmp_path, monkeypatch):
    assert shown(app()) == "first"
    assert len(list((tmp_path / "templates" / "__pycache__").iterdir())) == 1

    again = app()
    monkeypatch.setattr(again.jinja_env, "compile", None)
    assert shown(again) == "first"


def test_another_source_is_compiled_anew(app, tmp_path):
    assert shown(app()) == "first"

    (tmp_path / "templates" / "page.html").write_text("second")

    assert shown(app()) == "second"


def test_what_cannot_be_kept_is_shown_all_the_same(app, tmp_path):
    made = app()
    shutil.rmtree(tmp_path / "templates" / "__pycache__")

    assert shown(made) == "first"


def test_nothing_is_written_where_python_is_told_so(app, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    assert shown(app()) == "first"
    assert not (tmp_path / "templates" / "__pycache__").exists()


def test_the_first_page_is_compiled_before_it_is_asked_for(monkeypatch):
    app = create_app("redis://localhost:1/0")
    compile_first_page(app)
    monkeypatch.setattr(app.jinja_env, "compile", None)

    folder = Path(qless_web.__file__).parent / "templates"
    for each in ("base.html", *(f"macros/{file.name}" for file in (folder / "macros").iterdir())):
        assert app.jinja_env.get_template(each)


def test_what_a_start_made_is_looked_through_no_more():
    app = create_app("redis://localhost:1/0")
    try:
        keep_start()
        seen = gc.get_objects()
        assert not any(each is app for each in seen)
    finally:
        gc.unfreeze()
