"""The audit from Python and from the shell: what it gives, what it says, what it does."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from qless_core import cli, errors
from qless_core.audit import HOWS, KINDS, AuditReport, Finding, walk
from qless_core.audit.kinds import BY_ID
from qless_core.audit.rings import rings
from qless_core.client import Client
from qless_core.commands import Commands
from qless_core.script import Script
from tests.support.workload import Workload

DOCS = Path(__file__).parents[2] / "docs"
LUA = Path(cli.__file__).parent / "lua"


@pytest.fixture
def client(server, redis):  # noqa: ARG001 - it empties the server
    """Make a client that goes by the server's clock, as the command does."""
    with Client(server.url, worker_name="worker-1") as client:
        yield client


@pytest.fixture
def mail(client):
    """Make a queue with three jobs, one of them running."""
    queue = client.queues["mail"]
    for jid in ("a", "b", "c"):
        queue.put("app.Mail", {"to": jid}, jid=jid, tags=["red"])
    queue.pop()
    return queue


# From Python


def test_the_findings_come_with_what_can_be_done(client, mail, redis):
    redis.zrem("ql:q:mail-work", "b")

    (finding,) = client.audit().findings

    assert isinstance(finding, Finding)
    assert (finding.kind.id, finding.jid, finding.kind.default) == ("in-no-place", "b", "requeue")
    assert str(finding) == 'job b: it says "waiting" in the queue "mail", but no set has it'
    outcome = finding.repair()
    assert (outcome.done, outcome.what) == (True, 'went back to the queue "mail", waiting')
    assert client.audit().is_clean
    assert {job.jid for job in mail.pop(9)} == {"b", "c"}


def test_the_report_adds_up(client, mail, redis):  # noqa: ARG001 - it makes the jobs
    for number in range(7):
        redis.zadd("ql:q:mail-work", {f"ghost-{number}": 1})
    redis.zrem("ql:q:mail-work", "b")

    report = client.audit()

    assert report.counts == {"in-no-place": 1, "entry-without-job": 7}
    assert [len(tally.examples) for tally in report.tallies] == [1, 3]
    assert not report.is_clean
    assert report.keys > 10
    assert list(report.findings) == []


def test_nothing_is_done_before_it_is_asked_for(client):
    client.redis.connection_pool.disconnect()
    client.redis.connection_pool.connection_kwargs["path"] = "/nowhere"

    report = client.audit()

    with pytest.raises(errors.RedisUnavailable):
        next(report.findings)


def test_a_repair_that_the_kind_has_not_is_refused(client, mail, redis):  # noqa: ARG001 - as above
    redis.zrem("ql:q:mail-work", "b")
    (finding,) = client.audit().findings

    with pytest.raises(errors.BadArgument, match="takes requeue or fail or delete"):
        finding.repair("clean")


def test_another_namespace_is_another_database(server, client, mail):  # noqa: ARG001 - as above
    with Client(server.url, namespace="[x]*:") as other:
        other.queues["q"].put("K", {}, jid="j")
        other.redis.delete("[x]*:q:q-work")

        assert other.audit().counts == {"in-no-place": 1}
        assert client.audit().counts == {}


@pytest.mark.parametrize("name", ["a-history", "ü ~2F", "*", "[a]", "a:b", "\udcff"])
def test_awkward_names_are_found_and_repaired(client, name):
    client.commands.put("", name, name, "K", "{}", 0)  # as other clients may: of any bytes
    assert client.audit().counts in ({}, {"not-utf8": 1})
    client.redis.zrem(client.keys.work(name), name)
    client.redis.zadd(client.keys.tracked, {f"{name}-gone": 1})

    for finding in client.audit().findings:
        if finding.kind.default:
            assert finding.repair().done

    assert client.audit().counts in ({}, {"not-utf8": 1})
    assert client.queues[name].pop().jid == name


def key_names():
    """Give every key that belongs to the jobs of the fixtures, or to all."""
    once = ("queues", "paused_queues", "workers", "tracked", "completed", "failures", "tags")
    of_queue = ("work", "locks", "scheduled", "depends", "recur", "throttled", "cron")
    yield from ((name,) for name in (*once, "config", "crons"))
    yield from ((name, "mail") for name in of_queue)
    yield from ((name, "a") for name in ("job", "history", "dependencies", "dependents"))
    yield from (("failed", "boom"), ("tag", "red"), ("worker_jobs", "worker-1"))
    yield from (("recurring", "tick"), ("throttle_locks", "t"), ("stats", 86400, "mail"))


@pytest.mark.parametrize("name", [*key_names()], ids=lambda name: "-".join(map(str, name)))
def test_a_key_of_another_type_stops_no_audit(client, mail, name):
    client.queues["mail"].recur("K", {}, 60, jid="tick")
    mail.pop().fail("boom", "m")
    key = getattr(client.keys, name[0])
    key = key(*name[1:]) if callable(key) else key
    client.redis.delete(key)
    client.redis.xadd(key, {"x": 1})
    client.redis.zadd(client.keys.tracked if name != ("tracked",) else "ql:completed", {"ghost": 1})

    for _ in range(2):
        for finding in client.audit().findings:
            if finding.kind.default:
                finding.repair()
    left = client.audit()

    assert "foreign-type" in left.counts or name[0] == "stats"
    assert "tracked-without-job" not in left.counts


def test_a_job_that_moves_while_the_walk_goes_on_is_no_finding(client, mail):
    for number in range(400):
        mail.put("K", {}, jid=f"j-{number}")
    stop = threading.Event()
    failures = []

    def work():
        try:
            while not stop.is_set():
                for job in mail.pop(20):
                    job.retry() if random.random() < 0.5 else job.move("other")  # noqa: S311 - any
                for job in client.queues["other"].pop(20):
                    job.move("mail")
        except Exception as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        found = [str(finding) for _ in range(15) for finding in client.audit().findings]
    finally:
        stop.set()
        thread.join()

    assert failures == []
    assert found == []


def test_random_work_beside_the_walk_is_no_finding(redis):
    call = partial(redis.evalsha, redis.script_load(Script().source), 0)
    work = Workload(call, random.Random(5))  # noqa: S311 - to be repeated
    commands = Commands(lambda command, *args: call(command, work.now, *args))
    work.run(300)
    stop = threading.Event()

    def go_on():
        while not stop.is_set():
            work.run(20)

    thread = threading.Thread(target=go_on)
    before = work.done
    thread.start()
    try:
        findings = list(AuditReport(commands).findings)
        while work.done < before + 300 and thread.is_alive():
            findings += AuditReport(commands).findings
    finally:
        stop.set()
        thread.join()

    assert work.done >= before + 300
    assert [str(each) for each in findings if each.kind.is_fault] == []


def test_scan_asks_for_less_where_it_meets_more():
    assert walk._next_count(150, 1000) < 150  # noqa: SLF001 - no other way to see it
    assert walk._next_count(150, 0) > 150  # noqa: SLF001 - as above
    assert walk._next_count(10, 10_000) == 10  # noqa: SLF001 - as above
    assert walk._next_count(5000, 0) == 5000  # noqa: SLF001 - as above


def test_rings_are_found_in_long_chains():
    chain = {str(number): [str(number + 1)] for number in range(50_000)}

    assert list(rings(chain)) == []
    (ring,) = rings(chain | {"49999": ["0"]})
    assert len(ring) == 50_000


def test_each_part_of_the_graph_tells_one_ring():
    links = {"a": ["b"], "b": ["a", "c"], "c": ["b"], "x": ["y", "x"], "y": ["z"], "z": ["y"]}

    found = list(rings(links))

    assert len(found) == 2
    for ring in found:
        for jid, other in zip(ring, [*ring[1:], ring[0]], strict=True):
            assert other in links[jid]


# The kinds


def test_the_script_and_python_know_the_same_kinds_and_repairs():
    name = "'([a-z0-9-]+)'"
    parts = {path.stem: path.read_text() for path in LUA.glob("*.lua")}
    looks = "\n".join(text for text in parts.values() if "see.add(" in text or "see.tell(" in text)
    repairs = parts["repair"]
    found = set(re.findall(rf"see\.(?:add|tell)\([^'\n]*{name}", looks))
    found |= set(re.findall(rf"(?:and|or) {name}", looks)) & set(BY_ID)
    mended = set(re.findall(rf"^Mends\[{name}\]", repairs, re.MULTILINE))
    listed = re.search(r"ipairs\(\{ 'entry-with.*?\}", repairs, re.DOTALL)
    mended |= set(re.findall(name, listed[0]))

    assert found == set(BY_ID)
    assert mended == {kind.id for kind in KINDS if kind.repairs}
    for kind in KINDS:
        assert set(kind.repairs) <= set(HOWS)
        assert kind.default in {"", *kind.repairs}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.id)
def test_each_kind_has_each_of_its_repairs_in_the_script(client, kind):
    """A subject without a fault is left alone, but a repair that there is none of is refused."""
    for how in HOWS:
        if how in kind.repairs:
            (outcome,) = client.commands.audit_repair(kind.id, how, ("job", "nobody"))
            assert not outcome.done
        else:
            with pytest.raises(errors.BadArgument):
                client.commands.audit_repair(kind.id, how, ("job", "nobody"))


def repairs_of(kind):
    """Write them as the reference does, the default in bold."""
    shown = [f"**{how}**" if how == kind.default else how for how in kind.repairs]
    return ", ".join(shown) or "none"


def test_the_reference_has_each_kind_with_its_repairs():
    page = (DOCS / "reference/qless-cli.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \| (yes|no) \|$", page, re.MULTILINE)

    assert rows == [
        (kind.id, kind.says, repairs_of(kind), "yes" if kind.is_fault else "no") for kind in KINDS
    ]


def test_no_default_deletes_a_job():
    assert {kind.default for kind in KINDS} == {"", "clean", "requeue"}


# From the shell


@pytest.fixture
def qless(server, client, capsys):
    """Run the command; answers its lines, after checking the exit code."""
    del client  # it empties the server

    def qless(*arguments, code=0):
        assert cli.main(["--redis-url", server.url, "audit", *arguments]) == code
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return (said.out or said.err).splitlines()

    return qless


@pytest.fixture
def broken(mail, redis):
    """Lose one job, and leave four entries of others that are gone."""
    redis.zrem("ql:q:mail-work", "b")
    for number in range(4):
        redis.zadd("ql:q:mail-work", {f"ghost-{number}": number})
    return mail


def test_a_sound_database_is_said_to_be_so(qless, mail):
    assert mail.pop() is not None

    (line,) = qless()

    assert re.fullmatch(r"No fault found; \d+ keys and entries looked at\.", line)


def test_faults_are_told_by_kind_with_examples(qless, broken):  # noqa: ARG001 - it makes the faults
    lines = qless(code=1)

    assert lines[:6] == [
        "in-no-place: 1",
        f"  {BY_ID['in-no-place'].says}",
        '  - job b: it says "waiting" in the queue "mail", but no set has it',
        "  repairs: requeue (default), fail, delete",
        "",
        "entry-without-job: 4",
    ]
    assert "  - and 1 more" in lines
    assert lines[-1].startswith("5 faults found; ")


def test_each_finding_can_be_said(qless, broken):  # noqa: ARG001 - as above
    lines = qless("--each", code=1)

    assert sum(line.startswith("entry-without-job: job ghost-") for line in lines) == 4


def test_a_rehearsal_changes_nothing(qless, broken, redis):  # noqa: ARG001 - as above
    before = redis.zrange("ql:q:mail-work", 0, -1)

    lines = qless("--repair", "all", code=1)

    assert any(line.startswith("would requeue job b (in-no-place: ") for line in lines)
    assert lines[-1] == "Nothing was changed: say --yes to do it."
    assert redis.zrange("ql:q:mail-work", 0, -1) == before


def test_repairs_are_said_one_by_one(qless, broken):
    lines = qless("--repair", "all", "--yes")

    assert 'in-no-place: job b: went back to the queue "mail", waiting' in lines
    assert sum(line.endswith(": taken out") for line in lines) == 4
    assert lines[-1].startswith("No fault found; ")
    assert len(broken.pop(9)) == 2


def test_one_kind_can_be_repaired_in_another_way(qless, broken, client):  # noqa: ARG001 - as above
    lines = qless("--repair", "in-no-place=fail", "--yes", code=1)

    assert 'in-no-place: job b: failed, in the group "audit"' in lines
    assert "entry-without-job: 4" in lines
    assert client.jobs["b"].failure.group == "audit"


def test_what_one_repair_brings_to_light_is_repaired_too(qless, client, redis):
    """Q24."""
    client.queues["q"].put("K", {}, jid="j")
    client.queues["other"].put("K", {}, jid="k")
    redis.zrem("ql:queues", "q")
    redis.zadd("ql:q:other-work", {"j": 1})
    redis.zrem("ql:q:q-work", "j")
    redis.zadd("ql:q:other-scheduled", {"j": 1})

    qless("--repair", "all", "--yes")

    assert client.audit().counts == {}
    assert client.jobs["j"].queue_name == "other"


def test_programs_get_json(qless, broken):  # noqa: ARG001 - as above
    (whole,) = map(json.loads, qless("--json", code=1))

    assert (whole["clean"], whole["rehearsed"]) == (False, False)
    first = whole["kinds"][0]
    assert (first["kind"], first["count"], first["default"]) == ("in-no-place", 1, "requeue")
    assert first["examples"][0]["jid"] == "b"

    *would, whole = map(json.loads, qless("--json", "--repair", "all", code=1))
    assert (whole["rehearsed"], Counter(each["how"] for each in would)) == (
        True,
        {"clean": 4, "requeue": 1},
    )
    assert {(each["done"], each["what"]) for each in would} == {(False, None)}

    *did, whole = map(json.loads, qless("--json", "--repair", "all", "--yes"))
    assert (whole["clean"], len(did), {each["done"] for each in did}) == (True, 5, {True})


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("nonsense", "there is no kind of fault 'nonsense'"),
        ("ring=delete", "ring cannot be repaired by 'delete': it takes requeue or fail"),
        ("odd-data", "odd-data is for you to decide: it takes fail or delete"),
        ("unknown-key", "there is no repair for it"),
    ],
)
def test_a_repair_that_there_is_none_of_is_refused(qless, word, complaint):
    (line,) = qless("--repair", word, code=1)

    assert complaint in line
