"""Sends a console what no browser would: odd names, pages, filters, forms, JSON and headers.

Shared by a test that sends some hundred requests and by `benchmarks/mischief.py`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes, urlencode

from werkzeug.routing import RequestRedirect
from werkzeug.test import Client as Browser

from qless_web.actions.action import ACTIONS
from qless_web.formatting import tilde
from tests.support.shop import AWKWARD

if TYPE_CHECKING:
    from flask import Flask
    from werkzeug.routing import Rule

    from qless_core import Client

#: Texts that have broken something, somewhere.
TEXTS = (
    *AWKWARD, "", " ", "0", "-1", "1", "25", "999999999999999999999", "1e309", "NaN", "Infinity",
    "-0", "1.5", "٣", "²", "0x10", "1_000", "true", "null", "[]", "{}", "[[[[", '{"a":', "\x00",
    "\x00\x01\x02", "\ud800", "\udcff", "\u202e", "\ufeff", "é" * 300, "x" * 5000, "%", "%zz",
    "%00", "~", "~0", "~zz", "~00", "~FF", "*", "ql:", "state:", "state:failed", "(((", "a OR", '"',
    "'", "data.a:", "age:>", "age:>1d", "age:<99999999999d", "NOT", "-", "2026-11-30", "2026-02-30",
    "0000-00-00", "99999-01-01", "now", "../../etc/passwd", "//evil.example/", "http://evil.example",
    "javascript:alert(1)", "{{7*7}}", "${7*7}", "name", "waiting", "csv", "ndjson", "json", "poll",
)  # fmt: skip

#: What pages and the API ask the address for.
QUERY = (
    "page", "size", "sort", "q", "date", "format", "after", "next", "last", "show", "new", "tag",
    "state", "klass", "cluster", "at", "find", "look", "data", "download", "patterns", "behind",
    "operation", "report", "return_to", "live", "limit", "cursor", "offset", "group", "jids", "jid",
    "action", "a", "b", "address", "topics", "who", "from", "to", "queue", "fields",
)  # fmt: skip

HEADERS = (
    "Accept", "Accept-Language", "Accept-Encoding", "HX-Request", "HX-Target", "HX-Current-URL",
    "Cookie", "Range", "If-None-Match", "If-Modified-Since", "If-Match", "Authorization",
    "X-Request-Id", "Last-Event-ID", "X-Forwarded-Prefix", "X-Forwarded-For", "X-Forwarded-Proto",
    "X-Forwarded-Host", "Referer", "Origin", "Content-Type", "User-Agent", "X-HTTP-Method-Override",
    "Idempotency-Key", "Expect", "Content-Encoding",
)  # fmt: skip

#: Bodies that say they are JSON, or nothing.
BODIES = (
    b"", b"{", b"[]", b"null", b"0", b'"x"', b"\xff\xfe", b"\x00" * 64, b"[" * 5000, b"{}" * 9,
    b'{"a":1,"a":2}', b'{"jids":[null,1,{},"x"]}', b'{"jids":"x"}', b'{"priority":1e999}',
    b'{"data":"\\ud800"}', b'{"__proto__":{}}', b'{"selection":{"q":7}}', b"a=1&a=2&=&%zz",
)  # fmt: skip

#: An endless stream is tried elsewhere.
_ENDLESS = "/events"


@dataclass
class Mischief:
    """What was sent and what came back.

    Attributes:
        statuses: how often each status was answered, by method.
        faults: requests that the console was not up to.

    """

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def mischief(app: Flask, client: Client, *, requests: int, seed: int = 5678) -> Mischief:
    """Send requests to an app, to every address that it has in turn.

    Args:
        app: the console.
        client: of its Redis, in which something should be.
        requests: how many.
        seed: another one sends others.

    """
    chance = Random(seed)  # noqa: S311 - mischief, no secret
    found = Mischief()
    names = _names(client)
    rules = [
        (rule, method)
        for rule in app.url_map.iter_rules()
        if not rule.rule.endswith(_ENDLESS)
        for method in sorted((rule.methods or set()) & {"GET", "POST", "DELETE", "PATCH", "PUT"})
    ]
    browser = Browser(app)
    for number in range(requests):
        rule, method = rules[number % len(rules)]
        wish: dict[str, Any] = {
            "path": _path(chance, app, rule, names),
            "method": method,
            "query_string": _query(chance, names),
            "headers": _headers(chance),
            **(_body(chance, names) if method != "GET" else {}),
        }
        answer = browser.open(**wish)
        answer.get_data()
        answer.close()
        found.statuses[method, answer.status_code] += 1
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            found.faults.append(f"{answer.status_code} {wish!r}")
    return found


def _names(client: Client) -> list[str]:
    queues = [each.name for each in client.queues.counts]
    workers = [each.name for each in client.workers.counts]
    failed = [job.jid for job in client.jobs.all_failed()][:20]
    jids = [*failed, *client.jobs.complete(0, 10)]
    return [*queues, *workers, *client.failures.groups, *client.tags(), *jids]


def _text(chance: Random, names: list[str]) -> str:
    throw = chance.random()
    if throw < 0.4:
        return chance.choice(names)
    if throw < 0.9:
        return chance.choice(TEXTS)
    return "".join(
        chr(chance.choice((chance.randrange(256), chance.randrange(0xD800)))) for _ in "12345"
    )


def _raw(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _path(chance: Random, app: Flask, rule: Rule, names: list[str]) -> str:
    """Fill in an address: mostly as the console writes names, at times as nobody does."""
    adapter = app.url_map.bind("localhost")
    values = {name: _text(chance, names) for name in rule.arguments}
    if chance.random() < 0.6:
        try:
            return adapter.build(rule.endpoint, values)
        except (ValueError, RequestRedirect):  # a name that has no address
            pass
    path = rule.rule
    for name, value in values.items():
        told = value if chance.random() < 0.5 else tilde(value.encode(errors="replace").decode())
        path = _fill(path, name, quote_from_bytes(_raw(told), safe="~"))
    return path


def _fill(path: str, name: str, value: str) -> str:
    before, _, rest = path.partition("<")
    inside, _, after = rest.partition(">")
    if inside.rpartition(":")[2] == name:
        return f"{before}{value}{after}"
    return f"{before}<{inside}>{_fill(after, name, value)}" if inside else path


def _query(chance: Random, names: list[str]) -> str:
    some = [(chance.choice(QUERY), _raw(_text(chance, names))) for _ in range(chance.randrange(5))]
    return urlencode(some) + chance.choice(("", "", "", "&", "&=", "&%zz=%ff"))


def _headers(chance: Random) -> dict[str, str]:
    found = {"Sec-Fetch-Site": "same-origin"} if chance.random() < 0.9 else {}
    for name in chance.sample(HEADERS, chance.randrange(4)):
        text = chance.choice((*TEXTS, "application/json", "text/html", "bytes=0-5", "gzip;q=x"))
        sent = _raw(text).decode("latin-1").replace("\r", "").replace("\n", "")
        found[name] = sent
    return found


def _body(chance: Random, names: list[str]) -> dict[str, Any]:
    taken = {each.name for action in ACTIONS.values() for each in action.takes}
    taken |= {each.form or each.name for action in ACTIONS.values() for each in action.takes}
    fields = sorted(taken | {"return_to", "confirmed", "jid", "jids", "name"})
    some = {chance.choice(fields): _text(chance, names) for _ in range(chance.randrange(6))}
    throw = chance.random()
    if throw < 0.5:
        return {
            "data": urlencode({name: _raw(value) for name, value in some.items()}),
            "content_type": "application/x-www-form-urlencoded",
        }
    if throw < 0.8:
        values: tuple[Any, ...] = (
            None,
            1,
            -1,
            10**30,
            1.5,
            True,
            [],
            {},
            ["x", 1, None],
            {"q": "state:failed"},
        )
        mixed = {
            name: chance.choice((value, value, chance.choice(values)))
            for name, value in some.items()
        }
        return {"data": json.dumps(mixed), "content_type": "application/json"}
    kinds = (
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "text/plain",
        "",
    )
    return {"data": chance.choice(BODIES), "content_type": chance.choice(kinds)}
