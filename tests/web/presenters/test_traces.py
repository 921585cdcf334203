"""Failures' messages: what was raised, own frames, all frames."""

from __future__ import annotations

import pytest

from qless_web.formatting import head
from qless_web.presenters.traces import MOST, trace

PYTHON = """Traceback (most recent call last):
  File "/srv/shop/billing.py", line 88, in charge
    gateway.post(order)
  File "/usr/lib/python3.12/site-packages/requests/api.py", line 59, in post
    return request()
           ^^^^^^^^^
  File "/usr/lib/python3.12/site-packages/requests/api.py", line 12, in request
    raise Timeout
requests.Timeout: no answer
after 10 s
"""

CHAINED = f"""{PYTHON}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/shop/worker.py", line 7, in perform
    charge()
shop.PaymentFailed: order 7
"""

RUBY = """NoMethodError: undefined method `iso8601' for nil:NilClass
/srv/shop/app/export.rb:12:in `rows'
/usr/lib/ruby/gems/3.1.0/gems/activerecord/lib/base.rb:9:in `each'
"""


def test_what_a_python_traceback_raised_is_found_though_its_message_goes_on():
    assert trace(PYTHON).last == "requests.Timeout: no answer"
    assert trace(CHAINED).last == "shop.PaymentFailed: order 7"
    assert head(PYTHON) == trace(PYTHON).last
    assert head(CHAINED) == trace(CHAINED).last


def test_what_ruby_raised_comes_first():
    assert trace(RUBY).last == "NoMethodError: undefined method `iso8601' for nil:NilClass"


def test_frames_of_libraries_are_told_from_own_ones():
    kinds = [(line.kind, line.text.strip()) for line in trace(PYTHON).lines]

    assert kinds[1] == ("frame", 'File "/srv/shop/billing.py", line 88, in charge')
    assert kinds[2] == ("code", "gateway.post(order)")
    assert [kind for kind, _ in kinds[3:8]] == ["library"] * 5
    assert kinds[8][0] == "error"
    assert [line.kind for line in trace(RUBY).lines] == ["error", "frame", "library"]


def folded(text):
    return [(part.frames, len(part.lines)) for part in trace(text).parts]


def test_frames_of_libraries_fold_between_own_lines_and_none_is_lost():
    assert folded(PYTHON) == [(0, 3), (2, 5), (0, 2)]
    for text in (PYTHON, CHAINED, RUBY):
        found = trace(text)
        assert tuple(line for part in found.parts for line in part.lines) == found.lines


@pytest.mark.parametrize(
    "text", ["just a sentence", "Error\n/gems/a.rb:1:in 'x'\n/gems/b.rb:2:in 'y'"]
)
def test_where_no_frame_is_own_nothing_is_folded(text):
    assert {frames for frames, _ in folded(text)} == {0}


def test_frames_of_what_runs_the_job_are_no_own_ones():
    text = """Traceback (most recent call last):
  File "/srv/qless/qless_core/worker/performing.py", line 9, in perform
    method(job)
  File "/srv/shop/mail.py", line 3, in perform
    raise ValueError
ValueError
"""

    assert trace(text).innermost == "mail.py:3 perform"
    assert folded(text) == [(0, 1), (1, 2), (0, 3)]


def test_a_frame_that_was_repeated_and_marks_below_code_belong_to_their_frame():
    text = """Traceback (most recent call last):
  File "/srv/shop/a.py", line 3, in f
    g()
    ~^^
  File "/usr/lib/python3.12/json/decoder.py", line 3, in g
    g()
  [Previous line repeated 995 more times]
RecursionError: too deep
"""

    assert [line.kind for line in trace(text).lines] == [
        "plain", "frame", "code", "code", "library", "library", "library", "error",
    ]  # fmt: skip


def test_frames_of_an_exception_group_are_known():
    text = """  + Exception Group Traceback (most recent call last):
  |   File "/srv/shop/a.py", line 3, in f
  |     raise group
  | ExceptionGroup: two of them (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/usr/lib/python3.12/asyncio/tasks.py", line 9, in g
    |     raise ValueError
    | ValueError: a
    +------------------------------------
"""

    kinds = [line.kind for line in trace(text).lines]

    assert kinds[1:3] == ["frame", "code"]
    assert kinds[6:8] == ["library", "library"]
    assert trace(text).innermost == "a.py:3 f"


@pytest.mark.parametrize(
    "line", ["from /srv/app/a.rb:12:in `rows'", "\tfrom /srv/app/a.rb:12:in 'Shop#rows'"]
)
def test_frames_of_ruby_are_known_as_each_version_writes_them(line):
    found = trace(f"RuntimeError: no\n{line}\n\tfrom /gems/rack.rb:1:in 'call'")

    assert [each.kind for each in found.lines] == ["error", "frame", "library"]
    assert found.innermost.startswith("a.rb:12 ")


def test_the_innermost_own_frame_is_named():
    assert trace(PYTHON).innermost == "billing.py:88 charge"
    assert trace(CHAINED).innermost == "worker.py:7 perform"
    assert trace(RUBY).innermost == "export.rb:12 rows"
    assert trace("just a sentence").innermost == ""


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "Traceback (most recent call last):", "  x", "\ud800"]
)
def test_any_text_is_a_trace(text):
    assert trace(text).lines


def test_a_very_long_message_is_cut_in_the_middle():
    found = trace("begin" + "x" * (3 * MOST) + "end")

    assert found.cut == 2 * MOST + 8
    assert found.text.startswith("begin")
    assert found.text.endswith("end")
    assert len(found.text) < MOST + 100
