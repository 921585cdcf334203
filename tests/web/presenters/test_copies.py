"""A job as text: programs that put the same again, reports that nothing breaks out of."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qless_core.reads.job import Happening, JobDetail
from qless_core.reads.original import Original
from qless_core.reads.rows import JobRow
from qless_web.presenters import copies

DATA = '{"n": 12345678901234567890, "e": "é\\n", "on": true, "no": null}'

JOB = Original(
    jid="j", klass="shop.Welcome", queue="mail", state="failed", data=DATA, priority=3, retries=2,
    tags=("eu", "o'neil"), throttles=(), heartbeat=None, depends=(),
)  # fmt: skip

ROW = JobRow(
    jid="j", klass="shop.Welcome", queue="mail", state="failed", worker="w", priority=3,
    tags=("eu",), retries=5, remaining=2, time=100.0, expires=None, failure_group="mail|Timeout",
    failure_message="", failed_at=100.0, spawned_from_jid="",
)  # fmt: skip

DETAIL = JobDetail(
    row=ROW, data=DATA, data_bytes=len(DATA), failure={"message": "no answer\n```\nmore"},
    history=(
        Happening("put", 10, {"q": "mail"}),
        Happening("popped", 22, {"worker": "w"}),
        Happening("failed", 83, {"worker": "w"}),
    ),
    history_trimmed=False, dependencies=(), dependencies_total=0, dependents=(),
    dependents_total=0, tracked_since=None, due=None, ahead=None, paused=False, worker_seen=None,
    any_worker_seen=None, running=0, max_running=0, kept_s=0, grace_s=10, queues=(),
)  # fmt: skip


def test_the_program_puts_the_same_again(client, server):
    text = copies.python(JOB, DATA, server.url, client.namespace)

    exec(compile(text, "copied", "exec"), {})  # noqa: S102 - that it runs is what is promised

    job = client.queues["mail"].peek()
    assert (job.klass_name, job.data, job.priority) == ("shop.Welcome", json.loads(DATA), 3)
    assert (list(job.tags), job.retries_left) == (["eu", "o'neil"], 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_the_data_in_the_program_is_that_of_the_job(value, indent, is_ascii):
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)

    written = copies.python(JOB, text, "redis://here", "ql:")

    literal = re.search(r"'shop.Welcome',\n        (.*),\n        priority", written, re.DOTALL)
    assert eval(literal[1], {"__builtins__": {"float": float}}) == value  # noqa: S307 - it is our own text


@pytest.mark.parametrize("name", ["a'b", '"', "\\", "a\nb", "'''", "\r", "$(x)", "`x`", "\udcff"])
def test_no_name_breaks_out_of_a_program_or_a_line(name):
    job = replace(JOB, jid=name, klass=name, queue=name, tags=(name,))

    program = copies.python(job, "{}", "redis://here", "other:")
    line = copies.curl(job, "{}", "https://here/put", has_tokens=True)

    compile(program, "copied", "exec")
    assert "namespace='other:'" in program
    words = shlex.split(line, comments=True)
    assert words[:2] == ["curl", "https://here/put"]
    assert json.loads(words[words.index("--data") + 1])["klass"] == name


def test_the_line_sends_the_data_as_text_with_its_digits():
    words = shlex.split(copies.curl(JOB, DATA, "https://here/put", has_tokens=False), comments=True)

    assert json.loads(words[-1]) == {
        "klass": "shop.Welcome", "data": DATA, "priority": 3, "retries": 2,
        "tags": ["eu", "o'neil"],
    }  # fmt: skip
    assert "Authorization" not in " ".join(words)


def test_what_is_hidden_is_said_to_be_hidden():
    for text in (
        copies.python(JOB, '{"n": "[hidden]"}', "redis://here", "ql:"),
        copies.curl(JOB, '{"n": "[hidden]"}', "https://here", has_tokens=False),
    ):
        assert copies.HIDDEN in text
        assert "12345678901234567890" not in text


def test_the_report_says_what_happened_attempt_by_attempt():
    text = copies.markdown(DETAIL, 200.0, "https://here/jobs/j")

    assert text.startswith("### shop.Welcome `j` failed\n\n[In the console](https://here/jobs/j)")
    assert "| failed in | `mail\\|Timeout` at 1970-01-01 00:01:40 UTC |" in text
    assert "| 1 | `w` | failed | 12 s | 1 min 1 s |" in text
    assert "| retries left | 2 of 5 |" in text


def test_nothing_breaks_out_of_the_fences_of_a_report():
    text = copies.markdown(DETAIL, 200.0, "https://here/jobs/j")

    assert "````\nno answer\n```\nmore\n````" in text
    assert f"```json\n{DATA}\n```" in text


def test_a_report_of_much_says_what_it_leaves_out():
    long = replace(DETAIL, failure={"message": "x" * 50_000}, data=None, data_bytes=5_000_000)

    text = copies.markdown(long, 200.0, "https://here/jobs/j")

    assert "30,000 characters are left out here" in text
    assert "5,000,000 bytes: too many to come along." in text
    assert len(text) < 25_000
