from __future__ import annotations

import pytest

from qless_core.testing import make_job, perform
from qless_core.worker.performing import (
    CannotPerform,
    find,
    group_of,
    message_of,
    method_name_of,
    performer_of,
)
from tests.worker import sample_jobs

HERE = "tests.worker.sample_jobs"


@pytest.fixture(autouse=True)
def done():
    sample_jobs.DONE.clear()
    return sample_jobs.DONE


@pytest.mark.parametrize(
    ("klass", "queue", "ran"),
    [
        ("Mail", "anything", "Mail.process"),
        ("Mail", "urgent", "Mail.urgent"),
        ("Mail", "send-out", "Mail.send_out"),
        ("Mail", "send out!", "Mail.send_out"),
        ("Inherits", "urgent", "Mail.urgent"),
        ("Performs", "anything", "Performs"),
        ("Performs", "special", "Performs.special"),
        ("Performs.Inner", "anything", "Inner"),
        ("function", "anything", "function"),
    ],
)
def test_a_job_is_run_by_the_method_of_its_queue_or_process_or_perform(done, klass, queue, ran):
    job = make_job(f"{HERE}.{klass}", queue=queue)

    perform(job)

    assert done == [(ran, job.jid)]


@pytest.mark.parametrize(
    ("queue", "name"),
    [
        ("mail", "mail"),
        ("send-mail", "send_mail"),
        ("a/b.c d", "a_b_c_d"),
        ("__init__", "init"),
        ("ü", "ü"),
        ("5", ""),
        ("..", ""),
        ("", ""),
        ("🙂", ""),
    ],
)
def test_the_name_of_a_queue_becomes_that_of_a_method(queue, name):
    assert method_name_of(queue) == name


@pytest.mark.parametrize("queue", ["mro", "init", "class", "dict", "subclasshook"])
def test_what_every_class_has_runs_no_jobs(queue):
    with pytest.raises(CannotPerform, match="process or perform"):
        performer_of(f"{HERE}.Quiet", queue)


@pytest.mark.parametrize(
    ("klass", "words"),
    [
        ("no_such_module.Job", "there is no module 'no_such_module'"),
        (f"{HERE}.Missing", "no attribute 'Missing'"),
        (f"{HERE}.Mail.Missing", "no attribute 'Missing'"),
        ("tests.worker.broken_module.Job", "no_such_module_anywhere"),
        ("", "is no name of a class"),
        ("..", "is no name of a class"),
        ("::", "is no name of a class"),
        (".relative", "'.relative' is no name of a class, as app.jobs.Mail is"),
        ("a..b", "is no name of a class"),
        ("a.b.", "is no name of a class"),
        ("a/b c", "there is no module"),
        ("Ruby::Mail", "there is no module 'Ruby'"),
        (f"{HERE}.async_looking", "has no method"),
    ],
)
def test_what_cannot_be_imported_says_why(klass, words):
    with pytest.raises(CannotPerform, match=words) as error:
        performer_of(klass, "q")

    assert klass in str(error.value) or "::" in klass
    assert "relative import" not in str(error.value)
    assert group_of("q", error.value) == "q-ImportError"
    assert words in message_of(error.value)


def test_a_name_may_begin_as_absolute_ones_of_ruby_do():
    assert find(f"::{HERE.replace('.', '::')}::Mail") is find(f"{HERE}.Mail")


def test_a_broken_module_shows_where_it_broke():
    with pytest.raises(CannotPerform) as error:
        find("tests.worker.broken_module.Job")

    assert "broken_module.py" in message_of(error.value)
    assert "ModuleNotFoundError" in message_of(error.value)


def test_the_message_is_the_traceback_without_the_workers_own_frames():
    job = make_job(f"{HERE}.Raises", {"message": "glāžšķūņu 漢字 🙂"})
    with pytest.raises(ValueError, match="glā") as error:
        perform(job)

    message = message_of(error.value)

    assert message.endswith("ValueError: glāžšķūņu 漢字 🙂\n")
    assert "sample_jobs.py" in message
    assert "qless_core/worker/performing.py" not in message


def test_b12_a_message_that_utf8_cannot_hold_is_recorded_with_replacements():
    job = make_job(f"{HERE}.Raises", queue="surrogate")
    with pytest.raises(ValueError, match="a") as error:
        perform(job)

    assert "ValueError: a�b" in message_of(error.value)
    message_of(error.value).encode()
