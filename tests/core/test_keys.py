from __future__ import annotations

import inspect
import re
from pathlib import Path

import qless_core
from qless_core.keys import Keys

LUA = (Path(qless_core.__file__).parent / "lua" / "keys.lua").read_text()


def in_lua(body):
    """Read the name that a line of keys.lua spells, its parameters as {name}."""
    parts = [part.strip() for part in body.split("..")]
    return "".join(
        "ql:" if part == "NAMESPACE" else part[1:-1] if part[0] == "'" else f"{{{part}}}"
        for part in parts
    )


def in_python():
    found = {}
    for name, member in vars(Keys).items():
        if name.startswith("_") or name == "namespace":
            continue
        if isinstance(member, property):
            found[name] = getattr(Keys(), name)
        else:
            names = [*inspect.signature(member).parameters][1:]
            found[name] = member(Keys(), *(f"{{{each}}}" for each in names))
    return found


def test_python_and_lua_spell_every_key_the_same():
    fixed = dict(re.findall(r"^Key\.(\w+) = (NAMESPACE \.\. '[^']*')", LUA, re.MULTILINE))
    made = dict(re.findall(r"^function Key\.(\w+)\([^)]*\)\n  return (.*)$", LUA, re.MULTILINE))
    lua = {name: in_lua(body) for name, body in (fixed | made).items()}
    pattern = lua.pop("stats").replace("{bin}", "{day}")

    python = in_python()

    for kind in ("stats", "wait", "run"):
        assert python.pop(kind) == pattern.replace("{kind}", kind)
    assert python == lua


def test_another_namespace_is_in_every_key():
    keys = Keys("{ql}:")

    assert keys.job("a") == "{ql}:j:a"
    assert keys.queues == "{ql}:queues"
