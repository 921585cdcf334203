from __future__ import annotations

from qless_web.live import sse


def test_a_message_names_what_changed_in_order():
    message = sse.change("h-12", frozenset({"queues", "queue:mail"}))

    assert message == b'id: h-12\nevent: change\ndata: {"topics": ["queue:mail", "queues"]}\n\n'


def test_no_name_breaks_out_of_its_message():
    message = sse.change("h-1", frozenset({"queue:a\n\nevent: bye\ndata: x", "job:ü\udcff\r"}))

    assert message.count(b"\n\n") == 1
    assert message.endswith(b"\n\n")
    assert message.isascii()
    assert b"\r" not in message


def test_the_same_message_is_encoded_once():
    topics = frozenset({"queues"})

    assert sse.change("h-3", topics) is sse.change("h-3", frozenset({"queues"}))
