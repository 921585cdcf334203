"""What one command needs of the script."""

from __future__ import annotations

import re

import pytest

from qless_core.excerpt import Excerpts, statements
from qless_core.script import PARTS, Script
from tests.lua.test_script import texts

BASE = """-- A comment, that isn't a text.
local call = redis.call
local Load = {}
local function from(file)
  return Load[file]
end
local Left = from('left')
local Right = from('right')
local Answer
"""

LEFT = """-- What is local here.
local SEEN, NAMES = {}, { 'Right.unused' } -- Left.unused, in a comment
for _, name in ipairs(NAMES) do
  SEEN[name] = true
end

local Kinds = {}

function Kinds.odd()
  return Right.used(1)
end

function Left.kind(name)
  return Kinds[name]
end

function Left.seen(name)
  return SEEN[name]
end

function Left.unused()
  return call('ping')
end
"""

RIGHT = """local one
one = function()
  return Left.seen('x')
end
function Right.used()
  return one()
end
function Right.unused()
  return Left.unused()
end
Commands['do'] = function()
  return Left.kind('odd')
end
"""

MAIN = "Answer = function() return Commands['do'] end\n"


@pytest.fixture
def needed():
    parts = {"base": BASE, "left": LEFT, "right": RIGHT, "main": MAIN}
    found = Excerpts(parts).needed("do")
    return {name: {each.line for each in kept} for name, kept in found.items()}


def line_of(text, beginning):
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith(beginning))


def test_what_a_command_uses_is_in_its_excerpt_and_what_that_uses(needed):
    lefts = ("function Left.kind", "local Kinds", "function Left.seen", "local SEEN")
    rights = ("Commands", "function Right.used", "local one", "one =")

    assert {line_of(LEFT, each) for each in lefts} <= needed["left"]
    assert {line_of(RIGHT, each) for each in rights} == needed["right"]


def test_what_fills_a_table_comes_with_it(needed):
    assert {line_of(LEFT, "function Kinds.odd"), line_of(LEFT, "for _")} <= needed["left"]


def test_what_is_named_in_texts_and_comments_alone_is_left_out(needed):
    assert line_of(LEFT, "function Left.unused") not in needed["left"]
    assert line_of(BASE, "local call") not in needed["base"]


def test_the_files_are_nothing_but_statements_comments_and_blanks():
    for name, text in texts().items():
        lines = text.splitlines()
        for each in statements(name, text):
            for number in range(each.line, each.line + len(each.lines)):
                lines[number - 1] = ""
        assert [line for line in lines if line and not line.startswith("--")] == [], name


def test_a_line_of_the_head_is_a_line_of_its_file():
    script = Script()
    lines = {name: text.splitlines() for name, text in texts().items()}
    a_table = re.compile(r"local \w+ = \{\}$")

    met = set()
    for number, line in enumerate(script.source.splitlines(), start=1):
        name, _, of_file = script.place(f"user_script:{number}").partition(".lua:")
        if (name, of_file) == ("base", "1"):
            break  # here the whole script begins
        if name in PARTS and not a_table.match(line):
            assert line == lines[name][int(of_file) - 1]
            met.add(name)
    assert met > {"base", "keys", "put", "pop", "throttle", "main"}


def test_each_function_that_an_excerpt_calls_is_in_it():
    parts = texts()
    excerpts = Excerpts({name: parts[name] for name in PARTS if name != "api"})
    made = set(re.findall(r"^(?:function )?(\w+\.\w+)\b", "\n".join(parts.values()), re.MULTILINE))

    for command in ("put", "pop", "complete", "fail", "retry", "heartbeat", "turn"):
        kept = [each for all_of_it in excerpts.needed(command).values() for each in all_of_it]
        given = {name for each in kept for name in each.gives}
        used = {name for each in kept for name in each.uses}
        assert used & made - given == set(), command
