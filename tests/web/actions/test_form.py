"""The fields of a form: the examples are true."""

from __future__ import annotations

import doctest

from qless_web.actions import form


def test_the_examples_hold():
    outcome = doctest.testmod(form)

    assert outcome.attempted > 0
    assert outcome.failed == 0
