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


def test_frames_of_libraries_fold_into_one_line_that_counts_them():
    folded = [line.text.strip() for line in trace(PYTHON).own if line.kind == "folded"]

    assert folded == ["… 2 frames of libraries …"]
    assert trace("just a sentence").own == ()


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
