"""What the original answers, publishes and stores, replayed against ours.

`tests/data/golden.jsonl.gz` was recorded from the original script. A difference is allowed where
section 8 of the wire contract, its text or a case from the field asks for one; each is listed here
with its number, and a test sees to it that none of them is listed in vain. Users find them, and
what these recordings do not meet, in `docs/explanation/differences.md`.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from redis.exceptions import ResponseError

from qless_core.embedded import EmbeddedServer
from tests.support.servers import servers

GOLDEN = Path(__file__).parent.parent / "data" / "golden.jsonl.gz"

#: The differences, by their number.
LISTED = {
    "8": "uses of a tag that nobody carries, and tracked jids without a job, are cleaned up",
    "B47": "retry into another queue than the job's is refused",
    "B52": "a failed job leaves the statistic of the queue it was counted in",
    "section 4": "reads show a scheduled job whose time has come as waiting",
    "section 4, retry": "the `when` of a failure is whole, also where retries ran out",
}

#: What an odd line of the file holds: reads that tidy in the original, so no keys at the end.
TEXT_FIELDS = ("data", "tags", "failure")


@pytest.fixture(scope="module", params=list(servers()))
def server(request):
    """Run a private server of each kind, the older ones too."""
    with EmbeddedServer(binary=servers()[request.param]) as server:
        yield server


def sequences():
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def value_of(text):
    """Read a reply or a stored text: JSON by value, everything else as it is."""
    if isinstance(text, str) and text[:1] in ("[", "{"):
        return plain(json.loads(text))
    return plain(text)


def plain(value, name=""):
    if isinstance(value, dict):
        return {
            key: value_of(item) if key == "data" else plain(item, key)
            for key, item in value.items()
            if key not in ("throttles", "throttled")
        } or []
    if isinstance(value, list):
        items = [plain(item) for item in value]
        return sorted(items) if name in ("dependents", "dependencies") else items
    return value


def same(ours, theirs):
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=0, abs_tol=1e-12)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs


def reply_difference(call, ours):
    """Find the number of a difference between two replies; None when there is none."""
    theirs, ours = value_of(call["ok"]), value_of(ours)
    if same(ours, theirs):
        return None
    if call["args"][0] in ("get", "multiget"):
        both = [ours, theirs] if isinstance(ours, list) else [[ours], [theirs]]
        for our_job, their_job in zip(*both, strict=True):
            if (our_job["state"], their_job["state"]) == ("waiting", "scheduled"):
                their_job["state"] = "waiting"
        if same(*both):
            return "section 4"
    return f"{call['args']}: {ours!r} instead of {theirs!r}"


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def fields_of(key, stored):
    """Read what is stored under a key, by value."""
    if isinstance(stored, dict):
        return {
            name: value_of(text) if name in TEXT_FIELDS else number(text)
            for name, text in stored.items()
        }
    items = [value_of(text) for text in stored]
    return sorted(items) if isinstance(stored, set) or "-depende" in key else items


def key_differences(ours, theirs):
    """Find the numbers of the differences between two dumps."""
    for key in sorted(ours.keys() | theirs.keys()):
        our, their = (fields_of(key, dump.get(key, {})) for dump in (ours, theirs))
        if key == "ql:tags":
            yield from tag_differences(our, their, ours)
        elif key == "ql:tracked":
            gone = [jid for jid in their if f"ql:j:{jid}" not in ours]
            yield from ["8"] * len(gone)
            our.update((jid, their[jid]) for jid in gone)
        elif key.startswith("ql:s:stats:") and our.get("failed") != their.get("failed"):
            assert our.pop("failed", 0) >= 0
            their.pop("failed", 0)
            yield "B52"
        elif key.startswith("ql:j:") and isinstance(their, dict) and "failure" in their:
            their_failure = their["failure"]
            if their_failure and their_failure["when"] % 1:
                their_failure["when"] = math.floor(their_failure["when"])
                yield "section 4, retry"
        if not same(our, their) and (our or their):
            yield f"{key}: {our!r} instead of {their!r}"


def tag_differences(our, their, stored):
    """Compare uses of tags: a count that fell to 0 is forgotten, or set to the jobs there are."""
    for tag in our.keys() | their.keys():
        uses, theirs = our.get(tag, 0), their.get(tag, 0)
        carriers = len(stored.get(f"ql:t:{tag}", {}))
        if tag not in our or uses != theirs:
            forgotten = tag not in our and carriers == 0
            righted = uses > theirs and uses >= carriers > 0
            yield "8" if forgotten or righted else f"ql:tags {tag}: {uses} instead of {theirs}"
    our.clear()
    their.clear()


def total_failed(dump):
    """Sum the failed of all queues by day: a job that moves leaves the sum as it is."""
    days = Counter()
    for key, stored in dump.items():
        if key.startswith("ql:s:stats:"):
            days[key.split(":")[3]] += int(stored.get("failed", 0))
    return +days


def attempt(lua, call):
    """Make a call; answers its reply, whether it was refused, and what was published."""
    with lua.hearing() as heard:
        try:
            reply, refused = lua(*call["args"]), False
        except ResponseError:
            reply, refused = None, True
    return reply, refused, heard


def replay(lua, sequence):
    """Answer the numbers of the differences, in order; whatever is not listed as a sentence."""
    differences = []
    for call in sequence["calls"]:
        reply, refused, heard = attempt(lua, call)
        if refused != ("error" in call):
            # The job is in another place from here on, so there is nothing more to compare.
            name, _, *args = call["args"]
            elsewhere = refused and name == "retry" and lua.job(args[0])["queue"] != args[1]
            return [*differences, "B47" if elsewhere else f"{call['args']}: refused {refused}"]
        if not refused and (difference := reply_difference(call, reply)):
            differences.append(difference)
        if heard != call.get("events", []):
            differences.append(f"{call['args']}: {heard!r} instead of {call.get('events')!r}")
    if "keys" in sequence:
        stored = lua.stored()
        differences.extend(key_differences(stored, sequence["keys"]))
        assert total_failed(stored) == total_failed(sequence["keys"])
    return differences


@pytest.mark.parametrize("part", range(8))
def test_the_original_is_replayed_with_no_difference_but_those_listed(lua, redis, part):
    """B70 with B69: the same results on every server there is."""
    for sequence in sequences()[part::8]:
        redis.flushdb()

        differences = replay(lua, sequence)

        assert [found for found in differences if found not in LISTED] == []


def test_no_difference_is_listed_in_vain(lua, redis):
    found = set()
    for sequence in sequences():
        redis.flushdb()
        found.update(replay(lua, sequence))
        if found >= LISTED.keys():
            break

    assert found >= LISTED.keys()
