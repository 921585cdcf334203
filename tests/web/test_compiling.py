"""Consoles of one process share what their templates are compiled to."""

from __future__ import annotations

import pytest
from flask import Flask

from qless_web import create_app
from qless_web.compiling import SHARED


def test_a_second_console_compiles_no_template_again(client, monkeypatch):
    assert create_app(client).test_client().get("/").status_code == 200
    compiled = []
    monkeypatch.setattr(SHARED, "dump_bytecode", compiled.append)

    assert create_app(client).test_client().get("/").status_code == 200

    assert compiled == []


@pytest.fixture
def app(tmp_path):
    """Make an app whose one page says something else each time."""
    (tmp_path / "templates").mkdir()

    def app(text):
        (tmp_path / "templates" / "page.html").write_text(text)
        made = Flask("made", root_path=str(tmp_path))
        made.jinja_env.bytecode_cache = SHARED
        return made

    return app


def test_another_source_is_compiled_anew(app):
    for text in ("first", "second", "first"):
        assert app(text).jinja_env.get_template("page.html").render() == text
