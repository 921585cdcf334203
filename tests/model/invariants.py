"""What must be true of all that is stored, whatever was called: told from the keys alone.

The model is not asked: these hold also where it was wrong in the same way as the script.
"""

from __future__ import annotations

import re
from collections import defaultdict

#: State -> how the key of the set ends that must hold the job.
PLACES = {
    "waiting": "-work",
    "stalled": "-work",
    "running": "-locks",
    "scheduled": "-scheduled",
    "depends": "-depends",
}
#: What a day's figures are called.
FIGURE = re.compile(r"retries|failures|failed|total|mean|vk|[smhd]\d+")
SIDES = ("-history", "-dependents", "-dependencies")


def broken(stored):
    """List what is wrong, as sentences."""
    jobs = {
        key.removeprefix("ql:j:"): fields
        for key, fields in stored.items()
        if key.startswith("ql:j:") and isinstance(fields, dict)
    }
    return [
        *misplaced(jobs, stored),
        *orphans(jobs, stored),
        *wrong_locks(jobs, stored),
        *one_sided(jobs, stored),
        *wrong_tags(jobs, stored),
        *wrong_indexes(jobs, stored),
        *negative(stored),
    ]


def expected_place(fields):
    if fields["state"] == "failed":
        return f"ql:f:{fields['failure']['group']}"
    if fields["state"] == "complete":
        return "ql:completed"
    return f"ql:q:{fields['queue']}{PLACES[fields['state']]}"


def misplaced(jobs, stored):
    """Find jobs that are not in one place, the one that their state says, once."""
    places = defaultdict(list)
    for key, members in stored.items():
        is_set = key.startswith("ql:q:") and key.endswith(tuple(set(PLACES.values())))
        if is_set or key == "ql:completed" or key.startswith("ql:f:"):
            for jid in members:
                places[jid].append(key)
    for jid in jobs.keys() | places.keys():
        fields = jobs.get(jid)
        if not fields:
            yield f"{jid} is gone, but in {places[jid]}"
        elif places[jid] != [expected_place(fields)]:
            yield f"{jid} is {fields['state']} in {fields['queue']}, but in {places[jid]}"


def orphans(jobs, stored):
    """Find keys of jobs that are gone."""
    for key, value in stored.items():
        for side in SIDES:
            jid = key.removeprefix("ql:j:").removesuffix(side)
            is_side = key.startswith("ql:j:") and key.endswith(side)
            if is_side and not isinstance(value, dict) and jid not in jobs:
                yield f"{key} is left of a job that is gone"
    for jid in stored.get("ql:tracked", ()):
        if jid not in jobs:
            yield f"{jid} is tracked and gone"


def wrong_locks(jobs, stored):
    """Compare the lock, the job's own word and the worker's set; a worker holds what it runs."""
    held = {
        key.removeprefix("ql:w:").removesuffix(":jobs"): jids
        for key, jids in stored.items()
        if key.startswith("ql:w:")
    }
    for worker, jids in held.items():
        for jid in jids:
            fields = jobs.get(jid, {})
            if fields.get("state") != "running" or fields["worker"] != worker:
                yield f"{worker} holds {jid}, which it does not run"
    for jid, fields in jobs.items():
        # After the warning the lock alone tells how long the grace is.
        if fields["state"] == "running" and "grace" not in fields:
            ends = {stored[f"ql:q:{fields['queue']}-locks"].get(jid), fields["expires"]}
            # A worker that was silent for long holds nothing any more.
            ends.add(held.get(fields["worker"], {}).get(jid, fields["expires"]))
            if len(ends) > 1:
                yield f"the lock of {jid} ends at {ends}"


def one_sided(jobs, stored):
    """Find who waits for whom, but only one of them knows; or waits and is in another state."""
    for jid, fields in jobs.items():
        waits_for = relatives(stored, jid, "-dependencies")
        if bool(waits_for) != (fields["state"] == "depends"):
            yield f"{jid} is {fields['state']} and waits for {waits_for}"
        for other in waits_for:
            if jid not in relatives(stored, other, "-dependents"):
                yield f"{jid} waits for {other}, which does not know"
        for other in relatives(stored, jid, "-dependents"):
            if jid not in relatives(stored, other, "-dependencies"):
                yield f"{jid} thinks that {other} waits for it"


def relatives(stored, jid, side):
    found = stored.get(f"ql:j:{jid}{side}", set())
    return found if isinstance(found, set) else set()


def wrong_tags(jobs, stored):
    """Compare who carries a tag with whom it names; it is known as long as there are some."""
    carriers = defaultdict(set)
    for jid, fields in jobs.items():
        for tag in fields["tags"]:
            carriers[tag].add(jid)
    listed = {
        key.removeprefix("ql:t:"): set(jids)
        for key, jids in stored.items()
        if key.startswith("ql:t:")
    }
    if listed != carriers:
        yield f"tags name {listed}, but jobs carry {dict(carriers)}"
    uses = stored.get("ql:tags", {})
    if uses.keys() != carriers.keys() or any(number < 1 for number in uses.values()):
        yield f"tags are used {uses}"


def wrong_indexes(jobs, stored):
    """Look at the list of groups, and those of recurring jobs; and a job has what it must."""
    groups = {key.removeprefix("ql:f:") for key in stored if key.startswith("ql:f:")}
    if stored.get("ql:failures", set()) != groups:
        yield f"{stored.get('ql:failures')} are the groups, but {groups} have jobs"
    recurring = {
        key.removeprefix("ql:r:"): fields["queue"]
        for key, fields in stored.items()
        if key.startswith("ql:r:")
    }
    listed = {
        jid: key.removeprefix("ql:q:").removesuffix("-recur")
        for key, jids in stored.items()
        if key.startswith("ql:q:") and key.endswith("-recur")
        for jid in jids
    }
    if listed != recurring:
        yield f"{recurring} recur, but {listed} are listed"
    for jid, fields in jobs.items():
        if not stored.get(f"ql:j:{jid}-history"):
            yield f"{jid} has no history"
        if fields["queue"] == "" and fields["state"] != "complete":
            yield f"{jid} is in no queue"


def negative(stored):
    """Find figures below zero, and bars of histograms for times below zero."""
    for key, figures in stored.items():
        if key.startswith("ql:s:"):
            for name, value in figures.items():
                if value < 0 or not FIGURE.fullmatch(name):
                    yield f"{key}: {name} is {value}"
