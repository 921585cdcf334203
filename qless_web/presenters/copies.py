"""A job as text to take along: code that puts it again, and a report of it. Pure."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from qless_web.formatting import absolute, duration, printable
from qless_web.presenters import timeline
from qless_web.presenters.data import decoded
from qless_web.presenters.outline import NotJsonError, check, marks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.job import JobDetail
    from qless_core.reads.original import Original
    from qless_web.presenters.timeline import Life

#: Characters of data, and of a message, that a report holds.
DATA, MESSAGE = 20_000, 20_000

HIDDEN = "Parts of the data are hidden here: fill them in."

_PYTHON = {
    "true": "True", "false": "False", "null": "None",
    "NaN": 'float("nan")', "Infinity": 'float("inf")', "-Infinity": 'float("-inf")',
}  # fmt: skip


def python(job: Original, data: str, url: str, namespace: str) -> str:
    """Return a program that puts the same job again.

    Args:
        job: the one to copy.
        data: of it, as it may be shown.
        url: where Redis is, without a password.
        namespace: the names of its keys begin so; "ql:" where nothing else is said.

    """
    given = [json.dumps(url)]
    if namespace != "ql:":
        given.append(f"namespace={namespace!r}")
    options = [f"{name}={value!r}" for name, value in _options(job).items()]
    lines = [repr(job.klass), _literal(data), *options]
    return "\n".join(
        [
            *_comments("#", job, data),
            "from qless_core import Client",
            "",
            f"with Client({', '.join(given)}) as client:",
            f"    client.queues[{job.queue!r}].put(",
            *(f"        {line}," for line in lines),
            "    )",
            "",
        ]
    )


def curl(job: Original, data: str, address: str, *, has_tokens: bool) -> str:
    """Return a line for the shell that puts the same job again by way of the HTTP API.

    Args:
        job: the one to copy.
        data: of it, as it may be shown; it is sent as text, so that it keeps its digits.
        address: where the API takes a job for that queue.
        has_tokens: whether the API asks for one.

    """
    body = _body({"klass": job.klass, "data": data, **_options(job)})
    parts = [
        f"curl {shlex.quote(address)}",
        "--header 'Content-Type: application/json'",
        *(['--header "Authorization: Bearer $QLESS_TOKEN"'] if has_tokens else []),
        f"--data {shlex.quote(body)}",
    ]
    return "\n".join([*_comments("#", job, data), " \\\n  ".join(parts), ""])


def _body(values: dict[str, object]) -> str:
    """Write JSON to be read; bytes that are no text are written as the API takes them."""
    text = json.dumps(values, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(values)
    return text


def _options(job: Original) -> dict[str, object]:
    options: dict[str, object] = {}
    if job.priority:
        options["priority"] = job.priority
    if job.retries is not None:
        options["retries"] = job.retries
    if job.tags:
        options["tags"] = list(job.tags)
    if job.throttles:
        options["throttles"] = list(job.throttles)
    return options


def _comments(mark: str, job: Original, data: str) -> list[str]:
    said = [printable(f"As {' '.join(f'{job.klass} {job.jid}'.split())}.")]
    if data != job.data:
        said.append(HIDDEN)
    return [f"{mark} {each}" for each in said]


def _literal(text: str) -> str:
    r"""Write JSON as Python does; text that is no JSON as a string of it.

    >>> _literal('{"a": [true, null, 12345678901234567890], "é": "\\ud83d\\ude42"}')
    "{'a': [True, None, 12345678901234567890], 'é': '🙂'}"
    >>> _literal("no JSON")
    "'no JSON'"
    """
    try:
        check(text)
    except NotJsonError:
        return repr(text)
    written, end = [], 0
    for mark, start in marks(text):
        written.append(re.sub(r"\s+", " ", text[end:start]))
        end = start + len(mark)
        written.append(repr(_unquoted(mark)) if mark[0] == '"' else _PYTHON.get(mark, mark))
    return "".join(written).strip()


def _unquoted(token: str) -> str:
    read = decoded(token)
    return token[1:-1] if read == token else read


def markdown(found: JobDetail, now: float, address: str) -> str:
    """Return a report of a job: what it is, its attempts, why it failed, and its data.

    Args:
        found: the job, with its data as it may be shown.
        now: epoch seconds.
        address: of its page.

    """
    row, life = found.row, timeline.life(found, now)
    lines = [
        f"### {_plain(row.klass)} {_code(row.jid)} {row.state}",
        "",
        f"[In the console]({address}), as of {absolute(now)}",
        "",
        *_table(("", ""), _facts(found, life)),
    ]
    if life.attempts:
        lines += ["", "#### Attempts", "", *_attempts(life)]
    message = str(found.failure.get("message") or "")
    if message:
        lines += ["", "#### Failure", "", *_fenced(message, MESSAGE)]
    lines += ["", "#### Data", ""]
    if found.data is None:
        lines.append(f"{found.data_bytes:,} bytes: too many to come along.")
    else:
        lines += _fenced(found.data, DATA, "json")
    return "\n".join([*lines, ""])


def _facts(found: JobDetail, life: Life) -> Iterable[tuple[str, str]]:
    row = found.row
    if row.queue:
        yield "queue", _code(row.queue)
    if row.failure_group:
        when = f" at {absolute(row.failed_at)}" if row.failed_at is not None else ""
        yield "failed in", f"{_code(row.failure_group)}{when}"
    if row.worker:
        yield "worker", _code(row.worker)
    yield "attempts", f"{life.popped:,}"
    if row.retries is not None and row.remaining is not None:
        yield "retries left", f"{max(0, row.remaining)} of {row.retries}"
    yield "priority", str(row.priority)
    if row.tags:
        yield "tags", " ".join(_code(tag) for tag in row.tags)
    if row.time is not None:
        yield "last put, popped or completed", absolute(row.time)


def _attempts(life: Life) -> list[str]:
    rows = [
        (
            str(each.number or ""),
            _code(each.worker) if each.worker else "",
            _plain(each.outcome),
            each.waited_text or duration(None),
            each.ran_text or duration(None),
        )
        for each in (*life.earlier, *life.attempts)
    ]
    return _table(("#", "worker", "outcome", "waited", "ran"), rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(each.replace('|', chr(92) + '|') for each in row)} |" for row in rows),
    ]


def _plain(text: str) -> str:
    r"""Keep Markdown from reading a name as anything else.

    >>> _plain("a_b*<c>"), _plain("shop.Welcome")
    ('a\\_b\\*\\<c\\>', 'shop.Welcome')
    """
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    r"""Write a name as code, whatever it holds.

    >>> _code("a"), _code("a`b"), _code("two\nlines")
    ('`a`', '`` a`b ``', '`two lines`')
    """
    line = " ".join(text.split()) or " "
    fence = "`" * (_longest(line) + 1)
    return f"{fence}{line}{fence}" if fence == "`" else f"{fence} {line} {fence}"


def _fenced(text: str, most: int, language: str = "") -> list[str]:
    shown = text.rstrip()
    if len(shown) > most:
        shown = f"{shown[:most]}\n… {len(text) - most:,} characters are left out here …"
    fence = "`" * max(3, _longest(shown) + 1)
    return [f"{fence}{language}", shown, fence]


def _longest(text: str) -> int:
    return max((len(each) for each in re.findall(r"`+", text)), default=0)
