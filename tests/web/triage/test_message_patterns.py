"""Messages made alike: those of one cause become one pattern, those of two stay two."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from qless_web.triage.fates import fate_of
from qless_web.triage.patterns import LONGEST, pattern_of

CORPUS = [
    json.loads(line)
    for line in (Path(__file__).parent / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
]


def made(message: str) -> str:
    return pattern_of(message, group="shop-Error", klass="shop.Job")


def pairs_alike(labels: list[str]) -> set[tuple[int, int]]:
    by_label = defaultdict(list)
    for number, label in enumerate(labels):
        by_label[label].append(number)
    return {pair for each in by_label.values() for pair in combinations(each, 2)}


def test_the_labelled_texts_of_five_languages_fall_into_their_causes():
    patterns = [pattern_of(r["message"], group=r["group"], klass=r["klass"]) for r in CORPUS]
    wanted = pairs_alike([each["cause"] for each in CORPUS])
    found = pairs_alike(patterns)
    both = len(wanted & found)
    assert len(CORPUS) >= 200
    assert len({each["language"] for each in CORPUS}) == 5
    assert 2 * both / (len(wanted) + len(found)) >= 0.98, (wanted ^ found, Counter(patterns))


VALUES = {
    "a number": ("7", "1,204", "-3", "0.25", "1e9"),
    "a span of time": ("30s", "1.5 seconds", "2m3.5s", "900 ms", "1 hour"),
    "an amount": ("5 bytes", "1 byte", "1.5 GiB", "900MB"),
    "an id": (str(uuid.UUID(int=7)), "9f8e7d6c5b4a", "01J8ZQ4X9KQ7", "12", "65a1f0c2e4b0a1b2"),
    "an object": ("<Order object at 0x7f1a>", "<Order object at 0x99ff00>"),
    "an object of Ruby": ('#<Order:0x0001 @id=1, @owner="a b">', "#<Order:0x0fff2 @id=22>"),
    "an address": ("10.0.0.7:443", "192.0.2.1:5432", "[2001:db8::7]:443", "pay-1.shop.example:80"),
    "a URL": ("https://a.example/x?y=1", "http://b.example:8080/"),
    "a path": ("/var/spool/a_b.csv", "/srv/x/1.png", "app/models/user.rb"),
    "quoted text": ("'ana'", '"Bo Lund"', "'it\\'s'", '"o\'neil"', "''"),
    "a moment": ("2026-01-02T03:04:05Z", "2026-01-02 03:04:05.123", "1767322800"),
    "a date in words": ("Mon, 02 Mar 2026 08:00:00 GMT", "Sun, 17 May 2026 23:59:59 GMT"),
    "mail": ("ana@post.example", "bo.lund+x@mail.co.uk"),
    "JSON": ('{"id": 5, "who": "ana"}', '{"id": 7, "lines": [1, {"sku": "x"}]}'),
    "a list": ("[1, 2, 3]", "[4, 5]"),
    "a row": ("(1, 'a', None)", "(2, 'b', 'c')"),
    "a worker": ("worker-7d9f8b6c5f-xk2lp", "worker-6c5f7d9f8b-bcdfg"),
}  # fmt: skip
FRAMES = (
    "cannot use {} here",
    "[{}] no answer",
    "ref={} is broken",
    "stopped (after {}): given up",
    "{}: permission denied",
    "{} and {} clash",
)


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_one_kind_do_not_split(kind):
    for frame in FRAMES:
        found = {made(frame.format(value, value)) for value in VALUES[kind]}
        assert len(found) == 1, found


def test_forty_messages_that_differ_in_a_word_stay_forty_and_a_thousand_ids_do_not_part_them():
    draw = random.Random(6)  # noqa: S311 - a fixed draw
    words = [
        "amber",
        "basil",
        "cedar",
        "delta",
        "ember",
        "fjord",
        "grove",
        "heron",
        "iris",
        "jasper",
        "kestrel",
        "lotus",
        "maple",
        "nettle",
        "ochre",
        "pearl",
        "quartz",
        "raven",
        "sable",
        "tundra",
        "umber",
        "velvet",
        "willow",
        "xenon",
        "yarrow",
        "zephyr",
        "acorn",
        "birch",
        "clover",
        "dune",
        "elm",
        "fern",
        "garnet",
        "hazel",
        "ivory",
        "jade",
        "kelp",
        "larch",
        "moss",
        "navy",
    ]
    found = defaultdict(set)
    for word in words:
        for _ in range(25):
            number, ident = draw.randrange(10**6), f"{draw.getrandbits(64):016x}"
            text = f"{word} gateway gave up on order {number} of 'c{number % 97}' ({ident})"
            found[word].add(made(text))
    assert all(len(each) == 1 for each in found.values()), found
    assert len({next(iter(each)) for each in found.values()}) == len(words) == 40


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no attribute 'total'", "no attribute 'email'"),
        ("undefined method `total' for nil", "undefined method `email' for nil"),
        ('column "discount" does not exist', 'column "tax" does not exist'),
        ("unsupported operand: 'int' and 'str'", "unsupported operand: 'int' and 'NoneType'"),
        ('refused: {"code": "card_declined", "n": 1}', 'refused: {"code": "expired", "n": 1}'),
        ("reads and/or writes", "reads or writes"),
        ("mysql2 is gone", "psycopg2 is gone"),
        ("quota of 5 minutes", "quota of 5 MB"),
    ],
)
def test_what_names_the_cause_is_kept(one, other):
    assert made(one) != made(other)


def traceback(line: int, root: str = "/srv/app", *, function: str = "perform") -> str:
    return (
        "Traceback (most recent call last):\n"
        f'  File "{root}/jobs/pay.py", line {line}, in {function}\n    post(order)\n'
        '  File "/usr/lib/python3/site-packages/http/client.py", line 9, in post\n    raise Gone\n'
        "http.Gone: no answer"
    )


def test_a_traceback_is_its_error_and_the_innermost_own_frame_without_its_line():
    assert made(traceback(7)) == made(traceback(90, "/srv/releases/20260102")) == (
        "http.Gone: no answer · in perform in pay.py"
    )  # fmt: skip
    assert made(traceback(7)) != made(traceback(7, function="refund"))


@pytest.mark.parametrize(
    "message",
    [
        "'" * 200_000,
        "a@" * 100_000,
        "{" * 200_000,
        "<a " * 100_000,
        "1:" * 100_000,
        "1, " * 100_000,
        '\n  File "' * 50_000 + "Traceback (most recent call last)",
        "\n\tat a" * 50_000 + "\nCaused by: x",
        "\\" * 200_000,
        "\x00\ud800" * 1_000,
        "",
        "\n\n",
    ],
    ids=lambda text: repr(text[:8]),
)
def test_any_text_has_a_pattern_that_is_short(message):
    assert len(made(message)) <= LONGEST


def exhausted(**known: str) -> str:
    text = 'Job exhausted retries in queue "mail"'
    return pattern_of(text, group="failed-retries-mail", klass="shop.Mail", **known)


def test_retries_that_ran_out_are_told_apart_by_class_host_and_history():
    lost = fate_of(
        ['[1,"put",{"q":"a"}]', '[2,"popped",{"worker":"w-1-77"}]', '[9,"timed-out"]'] * 2
    )
    back = fate_of(['[2,"popped",{"worker":"w-1-78"}]', '[3,"put",{"q":"a"}]'])
    assert exhausted() == "Retries used up · shop.Mail"
    known = {
        exhausted(worker=lost.worker, fate=lost.text),
        exhausted(worker=back.worker, fate=back.text),
        exhausted(worker="w-2-77", fate=lost.text),
    }
    assert len(known) == 3
    assert exhausted(worker="w-1-4", fate=lost.text) in known
    assert fate_of(["nonsense", "[]", "5", "{}"]) == fate_of([]) == ("", "")
