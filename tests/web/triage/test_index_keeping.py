"""How the index is kept: filled, followed, taken over, built anew."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
import redis as redis_py

from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_web.triage import following, schema
from qless_web.triage.filling import Sweep
from qless_web.triage.following import Hints
from qless_web.triage.index import NoIndex
from qless_web.triage.places import Place
from qless_web.triage.soundness import Soundness
from qless_web.triage.source import Source
from qless_web.triage.store import Store
from qless_web.triage.writer import Keeping, Writer
from tests.support.polling import eventually
from tests.web.triage.indexes import fact, find, index_of, jids, kept

ROOT = Path(__file__).parents[3]

#: A process that keeps an index and does nothing else.
KEEPER = """
import sys, threading
from pathlib import Path
from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_web.triage.index import Index
from qless_web.triage.writer import Writer
client = Client(sys.argv[1])
Writer(client, Index.of(Path(sys.argv[2]), client.safe_url, client.namespace), 0).start()
print("started", flush=True)
threading.Event().wait()
"""


@pytest.fixture
def client(server, redis):  # noqa: ARG001 - it empties the server
    """Make a client that goes by the server's clock."""
    with Client(server.url, worker_name="w-7-100") as client:
        yield client


@pytest.fixture
def mail(client):
    """Make a queue of 20 jobs."""
    queue = client.queues["mail"]
    for at in range(20):
        queue.put("app.Mail", {"n": at}, jid=f"j{at:02}")
    return queue


def keeper(client, folder):
    """Start a process that keeps an index."""
    command = [sys.executable, "-c", KEEPER, client.url, str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    return process


def kill(process):
    process.kill()
    process.wait()
    process.stdout.close()


def stored(index, query="SELECT jid FROM jobs ORDER BY jid"):
    with index.reading() as connection:
        return [row[0] for row in connection.execute(query)]


def jids_or_none(index):
    """List the jids of an index; none where there is no index yet."""
    try:
        return stored(index)
    except NoIndex:
        return []


def got_further(index, known):
    """Tell whether an index has more than it had, or everything."""
    return known < len(jids_or_none(index)) or fact(index, "complete")


def consistent(index):
    """Check that tables, lists of words and counts tell the same."""
    with index.reading() as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        (jobs,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
        (texts,) = connection.execute("SELECT count(*) FROM texts").fetchone()
        found = connection.execute(
            "SELECT count(*) FROM words WHERE words MATCH 'names : app'"
        ).fetchone()
    return sound == "ok" and jobs == texts == found[0]


def is_read(connection):
    """Tell whether another connection reads the same file, which has no log."""
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        return True
    connection.execute("ROLLBACK")
    return False


# Following


@pytest.mark.usefixtures("mail")
def test_what_was_there_is_found_and_the_index_says_it_is_complete(client, tmp_path):
    with kept(client, tmp_path) as index:
        assert jids(index, "queue:mail") == [f"j{at:02}" for at in range(20)]
        assert fact(index, "jobs") == 20
        assert consistent(index)


def test_a_new_failure_is_found_within_two_seconds(client, mail, tmp_path):
    with kept(client, tmp_path, rate=4000) as index:
        mail.pop().fail("mail-Timeout", "no answer from relay")

        eventually(lambda: jids(index, '"no answer" state:failed'), within=2)


def test_what_the_log_does_not_tell_is_found_by_counts(client, mail, tmp_path):
    with kept(client, tmp_path) as index:
        taken = mail.pop()
        eventually(lambda: jids(index, "state:running") == [taken.jid])
        assert find(index, "host:w-7 state:running").total == 1
        taken.retry()
        eventually(lambda: len(jids(index, "state:waiting")) == 20)
        mail.pop().fail("g", "m")
        eventually(lambda: len(jids(index, "group:g")) == 1)
        client.failures.unfail("g", "mail")
        eventually(lambda: jids(index, "state:failed") == [])
        assert consistent(index)


@pytest.mark.usefixtures("mail")
def test_a_job_that_is_gone_is_found_no_more(client, redis, tmp_path):
    with kept(client, tmp_path) as index:
        client.jobs["j00"].cancel()
        eventually(lambda: "j00" not in jids(index, ""))
        # Nobody tells of this one.
        redis.zrem("ql:q:mail-work", "j01")
        redis.delete("ql:j:j01")
        eventually(lambda: "j01" not in jids(index, ""))
        assert consistent(index)


def test_completed_jobs_that_expire_are_found_no_more(client, mail, redis, tmp_path):
    for _ in range(3):
        mail.pop().complete()
    with kept(client, tmp_path) as index:
        assert len(jids(index, "state:complete")) == 3
        for jid in redis.zrange("ql:completed", 0, 1):
            redis.zrem("ql:completed", jid)
            redis.delete(f"ql:j:{jid}")
        eventually(lambda: len(jids(index, "state:complete")) == 1)


@pytest.mark.usefixtures("mail")
def test_new_tags_and_priorities_are_found_when_the_job_is_read_again(client, tmp_path):
    with kept(client, tmp_path) as index:
        client.jobs["j05"].tag("late")
        client.jobs["j06"].priority = 7
        eventually(lambda: jids(index, "tag:late") == ["j05"])
        eventually(lambda: jids(index, "priority:7") == ["j06"])


def test_jobs_that_a_list_names_and_that_are_no_more_do_not_disturb(client, mail, redis, tmp_path):
    redis.zadd("ql:q:mail-work", {"ghost": 1})
    with kept(client, tmp_path) as index:
        assert "ghost" not in jids(index, "")
        mail.put("app.Mail", {}, jid="new")
        eventually(lambda: jids(index, "jid:new") == ["new"])


def test_names_of_any_bytes_are_kept(client, server, tmp_path):
    odd = b"j\xff\x00 \xc3\xbc"
    with redis_py.Redis.from_url(server.url) as raw:
        fields = {
            "jid": odd,
            "klass": b"app.\xfe",
            "state": "waiting",
            "queue": "q",
            "data": b"\xff",
        }
        raw.hset(b"ql:j:" + odd, mapping=fields)
        raw.zadd("ql:q:q-work", {odd: 1})
        raw.zadd("ql:queues", {"q": 1})
    with kept(client, tmp_path) as index:
        (jid,) = find(index, "queue:q").jids
        assert find(index, "jid:j*").jids == (jid,)
        assert find(index, "jid:*x*").jids == ()
        # Few are in that queue: in each of them the word is looked for.
        assert find(index, "queue:q app").jids == (jid,)

    assert jid.encode(errors="surrogateescape") == odd


def test_jobs_with_zero_bytes_in_their_names_are_met_again_like_all_others(client, redis, tmp_path):
    for at in range(3):
        jid = f"a\0{at}"
        client.queues["q\0"].put("Let\0ter", {}, jid=jid, tags=["t\0x", f"t\0{at}"])
    client.queues["q\0"].put("Letter", {}, jid="a", tags=["t"])
    client.jobs["a\x001"].track()
    client.queues["q\0"].put("Let\0ter", {}, jid="failed\0")
    failure = json.dumps({"group": "g\0", "message": "m\0n", "worker": "w\0-1", "when": 5})
    redis.hset("ql:j:failed\0", mapping={"state": "failed", "failure": failure})
    redis.zrem("ql:q:q\0-work", "failed\0")
    redis.sadd("ql:failures", "g\0")
    redis.lpush("ql:f:g\0", "failed\0")
    everything = ["a", "a\x000", "a\x001", "a\x002", "failed\0"]

    for walk in range(3):
        with kept(client, tmp_path) as index:
            assert jids(index, "") == everything, walk
            assert jids(index, '"t\0x"') == everything[1:4]
            assert jids(index, "jid:a\x000") == ["a\x000"]
            assert jids(index, "tag:t\x002") == ["a\x002"]
            assert jids(index, "group:g\0 n") == ["failed\0"]
            eventually(lambda: jids(index, "tracked:yes") == ["a\x001"])
            assert find(index, "queue:q\0").total == len(everything)


def test_a_walk_reads_jobs_with_zero_bytes_in_their_jids_once(client, tmp_path):
    client.queues["mail"].put("app.Mail", {}, jid="a\0b")
    with kept(client, tmp_path) as index:
        pass
    connection, _ = index.open()
    try:
        source, store = Source(client, 0), Store(connection)
        sweep = Sweep(source, store, Place("work", "mail"))
        while sweep.step():
            pass
        assert source.jobs_read == 0
        assert set(store.lying(["a\0b", "a", "c"])) == {"a\0b"}
    finally:
        connection.close()


@pytest.mark.usefixtures("mail")
def test_a_job_that_is_known_against_all_belief_stops_no_other(client, tmp_path):
    with kept(client, tmp_path) as index:
        pass
    connection, _ = index.open()
    try:
        source, store = Source(client, 0), Store(connection)
        client.jobs["j05"].tag("seen")
        client.queues["mail"].put("app.Mail", {}, jid="j04-new")
        client.queues["mail"].put("app.Mail", {}, jid="j06-new")
        some = ["j04-new", "j05", "j06-new"]
        assert store.put(source.entries(some), new=set(some)) == 3
        assert store.jobs == 22
        assert store.put(source.entries(some)) == 0
    finally:
        connection.close()

    assert jids(index, "tag:seen") == ["j05"]
    assert len(jids(index, "")) == 22
    assert consistent(index)


def test_tags_and_failures_of_half_characters_stop_no_other_job(client, redis, tmp_path):
    for jid in ("a", "b", "c"):
        client.queues["q"].put("Letter", {}, jid=jid, tags=["kept"])
    redis.hset("ql:j:a", "tags", r'["\ud800", "\udfff", "kept"]')
    failure = r'{"group": "\ud800x", "message": "\udbff", "worker": "\udc80", "when": 5}'
    redis.hset("ql:j:b", mapping={"state": "failed", "failure": failure})

    with kept(client, tmp_path) as index:
        assert find(index, "tag:kept").total == 3
        assert find(index, "state:failed").jids == ("b",)


def test_what_failed_does_not_rest_as_what_was_put_does(client, mail, monkeypatch):
    monkeypatch.setattr(following, "_REST_S", 1e9)
    hints = Hints(client)
    try:
        assert hints.listen(0.0)
        (job,) = mail.pop(1)
        mail.put("app.Mail", {}, jid="new")
        job.fail("late", "no")
        heard = []
        eventually(lambda: hints.listen(0.05) and heard.extend(hints.take(10)) is None and heard)
        assert heard == [job.jid]

        monkeypatch.setattr(following, "_REST_S", 0.0)
        assert hints.take(10) == ["new"]
    finally:
        hints.close()


def test_what_is_told_of_a_job_that_cannot_be_is_never_asked_for(client, redis):
    hints = Hints(client)
    try:
        assert hints.listen(0.0)
        for event in ("put", "failed"):
            redis.publish("ql:log", rf'{{"event": "{event}", "jid": "\ud800", "queue": "mail"}}')
        client.queues["mail"].put("app.Mail", {}, jid="new")
        heard = eventually(lambda: hints.listen(0.05) and hints.take(10))
    finally:
        hints.close()

    assert heard == ["new"]


def test_jobs_of_any_content_are_kept_and_found(client, server, redis, tmp_path):
    """What other clients write, or lose half of: the index takes it in, and all others."""
    tags = [f"t{at}" for at in range(1_000)]
    client.queues["q"].put("Letter", {"huge": "x" * 10_000_000, "end": 1}, jid="huge")
    client.queues["q"].put("Letter", {}, jid="tags", tags=tags)
    client.queues["q"].put("Letter", {"a": {"b": [[1, {"c": "deep"}]]}}, jid="deep")
    for jid in ("half", "nul", "numbers", "nested", "empty", "failed", "array", "last"):
        client.queues["q"].put("Letter", {}, jid=jid)
    redis.hset("ql:j:half", "data", r'{"k": "\ud800", "\udfff": "odd"}')
    redis.hset("ql:j:nul", mapping={"data": '{"k": "a\\u0000b\0"}', "klass": "Let\0ter"})
    redis.hset("ql:j:numbers", mapping={"data": '{"n": 1e999, "m": ' + "9" * 5_000 + "}",
               "priority": "1e30", "retries": "nan", "remaining": "-7", "time": "inf"})  # fmt: skip
    redis.hset("ql:j:nested", "data", "[" * 50_000)
    redis.hset("ql:j:empty", mapping={"data": "", "tags": "{", "state": ""})
    failure = json.dumps({"group": "g\0" * 50_000, "message": "no\0 " * 500_000, "when": "x"})
    redis.hset("ql:j:failed", mapping={"state": "failed", "failure": failure})
    redis.hset("ql:j:array", mapping={"data": '["\\u00e9", 7, {"x": true}]', "tags": '{"1": 5}'})
    with redis_py.Redis.from_url(server.url) as raw:
        raw.hset("ql:j:last", mapping={"data": b'{"k": "\xff\xfe"}', "tags": b'["\xff"]'})

    with kept(client, tmp_path) as index:
        assert find(index, "").total == 11
        assert jids(index, "tag:t999") == ["tags"]
        assert jids(index, "data.a.b.c:deep") == ["deep"]
        assert jids(index, "data.x:true") == ["array"]
        assert jids(index, "state:failed no") == ["failed"]
        client.queues["q"].put("Letter", {"n": 7}, jid="new")
        eventually(lambda: jids(index, "data.n:7") == ["new"])
        with index.reading() as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# Who writes


def test_a_writer_that_was_killed_amid_its_work_leaves_a_usable_index(client, tmp_path):
    queue = client.queues["mail"]
    for at in range(3_000):
        queue.put("app.Mail", {"n": at}, jid=f"j{at:04}")
    index = index_of(client, tmp_path)
    known = -1
    for _ in range(6):
        process = keeper(client, tmp_path)
        # Each time it is killed it has got further than the time before.
        eventually(partial(got_further, index, known))
        kill(process)
        if index.path is not None:
            assert consistent(index)
            known = len(stored(index))
    with kept(client, tmp_path) as index:
        assert len(stored(index)) == 3_000
        assert consistent(index)


def test_one_process_writes_and_when_it_is_killed_another_goes_on(client, mail, tmp_path):
    index = index_of(client, tmp_path)
    first = keeper(client, tmp_path)
    eventually(lambda: fact(index, "complete"))
    assert fact(index, "pid") == first.pid
    second = keeper(client, tmp_path)
    try:
        mail.put("app.Mail", {}, jid="one")
        eventually(lambda: jids(index, "jid:one"))
        assert fact(index, "pid") == first.pid
        os.kill(first.pid, signal.SIGKILL)
        mail.put("app.Mail", {}, jid="two")
        eventually(lambda: jids(index, "jid:two"))
        eventually(lambda: fact(index, "pid") == second.pid)
        assert consistent(index)
    finally:
        kill(first)
        kill(second)


def test_what_happened_while_nobody_wrote_is_made_up_for(client, mail, redis, tmp_path):
    mail.pop().fail("g", "old words")
    with kept(client, tmp_path):
        pass
    failed = client.jobs[redis.lindex("ql:f:g", 0)]
    failed.move("mail")
    client.jobs["j19"].cancel()
    again = next(job for job in mail.pop(30) if job.jid == failed.jid)
    again.fail("g", "new words")

    with kept(client, tmp_path) as index:
        eventually(lambda: jids(index, '"new words"') == [failed.jid])
        eventually(lambda: "j19" not in jids(index, ""))
        assert jids(index, "old") == []
        assert consistent(index)


@pytest.mark.usefixtures("mail")
def test_until_all_was_looked_at_again_the_index_is_as_old_as_it_was(client, tmp_path):
    with kept(client, tmp_path) as index:
        pass
    before = fact(index, "as_of")
    connection, _ = index.open()
    keeping = Keeping(client, connection, 1)
    try:
        keeping.note()
        assert fact(index, "as_of") == before
        keeping.run(lambda: fact(index, "as_of") != before, threading.Event())
        assert keeping.is_up_to_date
    finally:
        keeping.close()
        connection.close()


# Files


@pytest.mark.usefixtures("mail")
@pytest.mark.parametrize("damage", ["cut", "overwritten", "nonsense", "gone", "older"])
def test_an_index_that_cannot_be_used_is_built_anew(damage, client, tmp_path):
    with kept(client, tmp_path) as index:
        path = index.path
    if damage == "cut":
        os.truncate(path, 5_000)
    elif damage == "overwritten":
        with path.open("r+b") as file:
            file.seek(4_096)
            file.write(b"\xff" * 20_000)
    elif damage == "nonsense":
        path.write_text("no database" * 1_000)
    elif damage == "gone":
        path.unlink()
    else:
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version = {schema.VERSION - 1}")
        connection.close()

    with kept(client, tmp_path) as index:
        assert index.path != path
        assert not path.exists()
        assert len(jids(index, "")) == 20
        assert consistent(index)


def test_damage_far_inside_is_found_while_the_writer_goes_on(client, tmp_path):
    for at in range(100):
        client.queues["mail"].put("app.Mail", {"needle": f"{at:03}" * 300}, jid=f"j{at:02}")
    with kept(client, tmp_path) as index:
        path = index.path
    raw = bytearray(path.read_bytes())
    page = raw.index(b"000" * 300) // 4_096 * 4_096
    raw[page : page + 4_096] = b"\xff" * 4_096
    path.write_bytes(raw)

    # What the writer reads when it begins is whole.
    connection, name = index.open()
    try:
        assert name == path.name
        assert Store(connection).jobs == 100
        soundness = Soundness(index, name)
        eventually(lambda: index.is_replaced(name))
        soundness.close()
    finally:
        connection.close()
    with kept(client, tmp_path) as index:
        eventually(lambda: index.path != path and len(jids(index, "") or ()) == 100)
        assert consistent(index)


def test_a_whole_file_is_kept_after_a_look_through_it(client, mail, tmp_path):
    with kept(client, tmp_path) as index:
        path = index.path
    with kept(client, tmp_path) as index:
        mail.put("app.Mail", {}, jid="new")
        eventually(lambda: jids(index, "jid:new"))
    soundness = Soundness(index, path.name)
    soundness.close()

    assert index.path == path
    assert not index.is_replaced(path.name)


def test_a_look_through_a_file_is_broken_off_amid_a_table(client, tmp_path):
    index = index_of(client, tmp_path)
    index.folder.mkdir(parents=True)
    path = index.folder / "index-1.sqlite"
    slow = "CREATE TABLE slow (number INTEGER, text TEXT AS (hex(zeroblob({} + number))) NOT NULL)"
    with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        connection.execute(slow.format(0))
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO slow VALUES (?)", [(1,)] * 20_000)
        connection.execute("COMMIT")
        # From now on a row takes long to be looked at, in few steps, and all of them minutes.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ?", (slow.format(10_000_000),))
        soundness = Soundness(index, path.name)
        eventually(lambda: all(is_read(connection) for _ in range(5)))
        closing = threading.Thread(target=soundness.close, daemon=True)
        closing.start()
        eventually(lambda: not closing.is_alive())

    assert not (index.folder / f"{path.name}.damaged").exists()


@pytest.mark.usefixtures("mail")
def test_damage_that_a_search_finds_makes_the_writer_begin_anew(client, tmp_path):
    with kept(client, tmp_path) as index:
        path = index.path
        index.tell_damaged(path.name)
        eventually(lambda: index.path != path and len(jids(index, "") or ()) == 20)


@pytest.mark.usefixtures("mail")
def test_a_folder_that_is_removed_is_made_again(client, tmp_path):
    with kept(client, tmp_path) as index:
        assert len(jids(index, "")) == 20  # whoever has read it once reads no file that is gone
        shutil.rmtree(index.folder)
        client.queues["mail"].put("Letter", {}, jid="new")
        eventually(lambda: len(jids(index, "") or ()) == 21)
        assert jids(index, "jid:new") == ["new"]


def test_a_folder_that_cannot_be_made_is_told(client, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    index = index_of(client, tmp_path / "file")
    writer = Writer(client, index, 0)
    writer.start()
    try:
        eventually(lambda: writer.trouble)
    finally:
        writer.close()
        writer.join(10)

    assert str(index.folder) in writer.trouble
    assert len([each for each in caplog.records if "not written" in each.message]) == 1
    with pytest.raises(NoIndex):
        find(index, "a", 0.0)


@pytest.mark.usefixtures("mail")
def test_only_its_owner_can_read_it(client, tmp_path):
    with kept(client, tmp_path) as index:
        assert index.folder.stat().st_mode & 0o077 == 0
        assert index.path.stat().st_mode & 0o077 == 0


def test_reading_makes_nothing(client, tmp_path):
    index = index_of(client, tmp_path)

    with pytest.raises(NoIndex):
        find(index, "a", 0.0)
    assert list(tmp_path.iterdir()) == []


# Load


@pytest.mark.usefixtures("mail")
def test_a_bounded_rate_is_kept(client):
    source = Source(client, 100)

    source.entries([f"j{at:02}" for at in range(20)])

    assert 0.1 < source.pause() <= 0.2
    assert Source(client, 0).pause() == 0.0


@pytest.mark.usefixtures("mail")
def test_filling_only_reads(client, redis, tmp_path):
    def writes():
        return {
            name: each["calls"]
            for name, each in redis.info("commandstats").items()
            if name.removeprefix("cmdstat_").split("|")[0]
            in {"set", "hset", "zadd", "evalsha", "fcall", "del"}
        }

    before = writes()
    with kept(client, tmp_path):
        pass

    assert writes() == before


def test_a_walk_reads_what_is_not_known_and_nothing_else(client, mail, tmp_path):
    with kept(client, tmp_path) as index:
        pass
    connection, _ = index.open()
    try:
        source, store = Source(client, 0), Store(connection)
        mail.put("app.Mail", {}, jid="new")
        sweep = Sweep(source, store, Place("work", "mail"))
        while sweep.step():
            pass
        assert source.jobs_read == 1
    finally:
        connection.close()


def test_what_is_held_back_is_seen_together_when_there_is_enough_of_it(client, mail, tmp_path):
    index = index_of(client, tmp_path)
    index.folder.mkdir(parents=True)
    connection, _ = index.open()
    try:
        source, store = Source(client, 0), Store(connection)
        store.holds_back = 22
        seen = []
        for more in range(3):
            sweep = Sweep(source, store, Place("work", "mail"))
            while sweep.step():
                pass
            seen.append(len(stored(index)))
            mail.put("app.Mail", {}, jid=f"new{more}")
        store.commit()
    finally:
        connection.close()

    assert seen == [0, 0, 22]


def test_words_that_are_held_back_are_bounded_by_their_size(client, tmp_path):
    some = [f"j{at:02}" for at in range(37)]
    for jid in some:
        client.queues["mail"].put("app.Mail", {"text": "\u4e16" * 300}, jid=jid)
    index = index_of(client, tmp_path)
    index.folder.mkdir(parents=True)
    connection, _ = index.open()
    try:
        store = Store(connection)
        store.holds_back, store.holds_words = 1_000, 10_000
        entries = Source(client, 0).entries(some)
        written = []
        for part in (entries[:2], entries[2:]):
            store.put(part)
            found = connection.execute("SELECT rowid FROM words WHERE words MATCH 'names : app'")
            written.append(len(found.fetchall()))
        assert stored(index) == []
        store.commit()
    finally:
        connection.close()

    # As many jobs as are in no whole number of parts: the last ones wait.
    assert written[0] == 0
    assert len(some) / 2 < written[1] < len(some)
    assert stored(index) == some
    assert consistent(index)


def test_a_reader_sees_one_moment_while_the_writer_goes_on(client, mail, tmp_path):
    with kept(client, tmp_path) as index, index.reading() as connection:
        connection.execute("BEGIN")
        before = connection.execute("SELECT count(*) FROM jobs").fetchone()
        mail.put("app.Mail", {}, jid="new")
        eventually(lambda: jids(index, "jid:new"))
        after = connection.execute("SELECT count(*) FROM jobs").fetchone()
        connection.execute("COMMIT")

    assert (before, after) == ((20,), (20,))


@pytest.mark.usefixtures("mail")
def test_names_that_no_job_has_any_more_are_forgotten(client, tmp_path):
    client.queues["mail"].put("app.Mail", {}, jid="odd", tags=["odd-1", "red"])
    client.queues["mail"].put("app.Mail", {}, jid="even", tags=["red"])
    with kept(client, tmp_path) as index:
        pass
    connection, _ = index.open()
    try:
        store = Store(connection)
        store.put([("odd", None)])
        store.forget()
        names = {name for (name,) in connection.execute("SELECT name FROM names WHERE kind = 4")}
        assert names == {"red"}
        assert store.put(Source(client, 0).entries(["odd"])) == 1
    finally:
        connection.close()
    assert jids(index, "tag:odd-1") == ["odd"]
    assert jids(index, "tag:red") == ["even", "odd"]


def test_the_writer_goes_on_where_redis_was_gone(tmp_path):
    with (
        EmbeddedServer(tmp_path / "redis") as server,
        Client(server.url, worker_name="w-7-100") as client,
    ):
        client.queues["mail"].put("app.Mail", {}, jid="one")
        with kept(client, tmp_path / "state") as index:
            server.stop()
            server.start()
            client.queues["mail"].put("app.Mail", {}, jid="two")
            eventually(lambda: jids(index, "jid:two") == ["two"])
