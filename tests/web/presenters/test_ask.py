"""The sentences of questions: their examples are run, and each reason reads well in each place."""

from __future__ import annotations

import doctest

import pytest

from qless_core.job import State
from qless_web.formatting import plain
from qless_web.presenters import ask_failures, ask_jobs, ask_words


@pytest.mark.parametrize(
    "module", [ask_words, ask_jobs, ask_failures], ids=lambda each: each.__name__
)
def test_the_examples_are_true(module):
    outcome = doctest.testmod(module)

    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("reason", [*State, "gone", "group", "dependents", "nowhere"])
def test_every_reason_of_the_script_has_its_words(reason):
    assert reason in ask_words.REASONS
    assert ask_words.left_out({reason: 2}).startswith("2 are left out: they ")
    assert ask_words.left_out({reason: 1}, was=True).startswith("1 was left out: it ")


def test_a_long_report_names_some_and_counts_the_rest():
    left = {f"j{number}": "gone" for number in range(1_000)}

    lines = ask_words.named(left)

    assert plain(lines[0]) == "j0: it has gone"
    assert lines[-1] == "and 992 more"
    assert len(lines) == ask_words.NAMED + 1
