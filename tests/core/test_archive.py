"""Completed jobs are written away, each once, before they expire."""

from __future__ import annotations

import json
import math

import pytest

from qless_core.archive import PAGE, ArchivedJob, JsonLines
from qless_core.errors import ArchiveMoved
from qless_core.records import HistoryItem, JobRecord


@pytest.fixture
def queue(client):
    return client.queues["q"]


def complete(queue, clock, *jids, data=None):
    for jid in jids:
        queue.put("app.Job", data or {}, jid=jid)
        queue.pop().complete()
        clock.advance(1)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_jobs_are_appended_to_a_file_once_each(client, queue, clock, tmp_path):
    """Q22."""
    path = tmp_path / "jobs.jsonl"
    complete(queue, clock, "a", "b")
    clock.advance(300)
    assert client.archive(path).jobs == 2
    complete(queue, clock, "c")
    clock.advance(300)

    done = client.archive(str(path))

    assert (done.jobs, done.gone, done.has_gap) == (1, 0, False)
    assert [line["jid"] for line in read(path)] == ["a", "b", "c"]
    assert client.archive(path).jobs == 0


def test_a_line_says_who_ran_the_job_where_and_when(client, queue, clock, tmp_path):
    path = tmp_path / "jobs.jsonl"
    at = clock.now()
    complete(queue, clock, "a", data={"big": 12345678901234567890, "text": "ü\n"})

    client.archive(path, settle=0)

    (line,) = read(path)
    assert line["workers"] == ["worker-1"]
    assert (line["queue"], line["klass"], line["completed"]) == ("q", "app.Job", at)
    assert json.loads(line["data"]) == {"big": 12345678901234567890, "text": "ü\n"}
    assert [item["what"] for item in line["history"]] == ["put", "popped", "done"]


def test_what_has_just_completed_waits_for_the_next_run(client, queue, clock, tmp_path):
    complete(queue, clock, "a")

    assert client.archive(tmp_path / "f").jobs == 0
    assert not (tmp_path / "f").exists()


def test_each_job_goes_into_the_file_of_its_day(client, queue, clock, tmp_path):
    complete(queue, clock, "a")  # 2023-11-14 22:13:20 UTC
    clock.advance(2 * 3600)
    complete(queue, clock, "b")

    client.archive(tmp_path / "jobs-%Y-%m-%d.jsonl", settle=0)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "jobs-2023-11-14.jsonl",
        "jobs-2023-11-15.jsonl",
    ]


def test_whatever_is_called_gets_pages_of_jobs(client, queue, clock):
    complete(queue, clock, *(f"j{number}" for number in range(PAGE + 3)))
    pages = []

    client.archive(pages.append, settle=0)

    assert [len(page) for page in pages] == [PAGE, 3]
    assert [job.record.jid for page in pages for job in page][:2] == ["j0", "j1"]


def test_what_could_not_be_written_is_given_again(client, queue, clock):
    complete(queue, clock, "a", "b")

    def fail(_jobs):
        problem = "disk full"
        raise OSError(problem)

    with pytest.raises(OSError, match="disk full"):
        client.archive(fail, settle=0)
    pages = []
    client.archive(pages.append, settle=0)

    assert [job.record.jid for page in pages for job in page] == ["a", "b"]


def test_two_of_one_name_stumble_over_each_other(client, queue, clock):
    complete(queue, clock, "a")

    with pytest.raises(ArchiveMoved) as error:
        client.archive(lambda _: client.archive(len, settle=0), settle=0)

    assert error.value.name == "default"
    assert client.archive(len, name="other", settle=0).jobs == 1


@pytest.mark.parametrize("torn", ['{"jid":"to', "x" * 200_000])
def test_what_a_killed_run_left_of_a_line_is_taken_away(tmp_path, torn):
    path = tmp_path / "jobs.jsonl"
    path.write_text('{"jid":"whole"}\n' + torn)

    JsonLines(path)([ArchivedJob(JobRecord("a", "K", "{}"), 5.0)])

    assert [line["jid"] for line in read(path)] == ["whole", "a"]
    path.write_text(torn)
    JsonLines(path)([ArchivedJob(JobRecord("a", "K", "{}"), 5.0)])
    assert [line["jid"] for line in read(path)] == ["a"]


def test_a_line_is_json_for_any_reader_whatever_is_in_a_history():
    history = (
        HistoryItem("put", 1, {"queue": "of another dialect"}),
        HistoryItem("log", 2, {"x": math.nan, "y": "\ud800"}),
        HistoryItem("popped", 3, {"worker": ["no name"]}),
    )
    job = ArchivedJob(JobRecord("a", "K", "{}", history=history), 5.0)

    def refuse(constant):
        raise ValueError(constant)

    line = json.loads(job.line(), parse_constant=refuse)
    assert (line["queue"], line["workers"]) == ("of another dialect", [])
    assert "\n" not in job.line()


def test_it_says_when_jobs_may_have_been_missed(client, queue, clock):
    client.config["jobs-history-count"] = 2
    complete(queue, clock, "a")
    client.archive(len, settle=0)
    complete(queue, clock, "b", "c", "d")

    assert client.archive(len, settle=0).has_gap
