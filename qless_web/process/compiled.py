"""What is made once for all pages: templates, compiled, and a start that is not looked through."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import FileSystemBytecodeCache

if TYPE_CHECKING:
    from flask import Flask
    from jinja2.bccache import Bucket


class _Compiled(FileSystemBytecodeCache):
    """Keeps what it can: a full disk is no reason to show no page."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def keep_compiled(app: Flask) -> None:
    """Use compiled templates of an earlier start, a fifth of the way to the first page.

    Each is used for the very source that it was made from only. Nothing is kept where Python is
    told to write no bytecode, or may not write beside the sources.
    """
    folder = Path(app.root_path) / "templates" / "__pycache__"
    if sys.dont_write_bytecode:
        return
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    if os.access(folder, os.W_OK):
        app.jinja_env.bytecode_cache = _Compiled(str(folder), "%s.jinja")


def compile_first_page(app: Flask) -> None:
    """Have the templates of the first page ready before somebody waits for it."""
    for name in app.jinja_env.list_templates(filter_func=_is_on_the_first_page):
        app.jinja_env.get_template(name)


def keep_start() -> None:
    """Have what there is by now be looked through for cycles no more: it stays to the end.

    Of the console those are some 90,000 objects. Pages make so many that each tenth or so had all
    of them looked through, which doubled what it cost.
    """
    gc.collect()
    gc.freeze()


def _is_on_the_first_page(name: str) -> bool:
    return name == "base.html" or name.startswith(("macros/", "overview/"))
