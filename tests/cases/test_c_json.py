"""Section C of the field cases: JSON and numbers on their way through Lua."""

from __future__ import annotations

import json

import pytest

DELICATE = '{"z":[],"o":{},"n":12345678901234567,"f":0.1234567890123456789, "a":[[],{}]}'


def test_b13_b15_no_command_touches_data_that_it_is_not_given(lua, redis):
    def same(jid="j"):
        assert redis.hget(f"ql:j:{jid}", "data") == lua.job(jid)["data"] == DELICATE

    lua.put(1, "first", queue="other")
    lua.put(1, "j", data=DELICATE)
    for call in (
        ("depends", 2, "j", "on", "first"),
        ("depends", 2, "j", "off", "all"),
        ("priority", 2, "j", 3),
        ("tag", 2, "add", "j", "t"),
        ("tag", 2, "remove", "j", "t"),
        ("track", 2, "track", "j"),
        ("log", 2, "j", "note", '{"a":[]}'),
        ("pop", 3, "q", "w", 1),
        ("heartbeat", 4, "j", "w"),
        ("retry", 5, "j", "q", "w", 0, "g", "m"),
        ("pop", 6, "q", "w", 1),
        ("timeout", 7, "j"),
        ("pop", 8, "q", "w", 1),
        ("pop", 100, "q", "v", 1),
        ("pop", 120, "q", "v", 1),
        ("fail", 121, "j", "v", "g", "m"),
        ("unfail", 122, "q", "g"),
        ("pop", 123, "q", "w", 1),
        ("fail", 124, "j", "w", "g", "m"),
        ("bulk.move", 125, "g", "q", "j", "failed"),
    ):
        lua(*call)
        same()
    assert json.loads(lua("peek", 126, "q", 1))[0]["data"] == DELICATE

    lua("recur", 200, "q", "r", "K", DELICATE, "interval", 60, 0)
    lua("recur.tag", 201, "r", "t")
    lua("recur.update", 202, "r", "priority", 20)
    assert lua.json("recur.get", 203, "r")["data"] == DELICATE
    assert lua.json("peek", 204, "q", 1)[0]["data"] == DELICATE
    assert lua.popped(205) == ["r-1"]
    same("r-1")


def test_b14_what_is_a_list_is_one_when_it_is_empty(lua):
    replies = {
        ("queues",): "[]",
        ("workers",): "[]",
        ("workers", "w"): '{"jobs":[],"stalled":[]}',
        ("failed",): "{}",
        ("failed", "g"): '{"total":0,"jobs":[]}',
        ("track",): '{"jobs":[],"expired":[]}',
        ("tag", "get", "t"): '{"total":0,"jobs":[]}',
        ("tag", "top"): "[]",
        ("peek", "q", "5"): "[]",
        ("pop", "q", "w", "5"): "[]",
        ("multiget", "j"): "[]",
        ("jobs", "complete"): [],
        ("jobs", "running", "q"): [],
        ("bulk.states", "g", "0", "5"): "{}",
        ("bulk.closure", "j"): '{"jobs":[],"missing":["j"],"more":false}',
    }
    assert {call: lua(call[0], 1, *call[1:]) for call in replies} == replies

    lua.put(2, "j", "tags", "[]")
    lua("recur", 2, "q", "r", "K", "{}", "interval", 60, 100, "tags", "[]")
    for text in (lua("get", 3, "j"), lua("peek", 3, "q", 1), lua("pop", 3, "q", "w", 1)):
        for name in ("tags", "dependents", "dependencies"):
            assert f'"{name}":[]' in text
    assert '"tags":[]' in lua("recur.get", 3, "r")
    assert lua("tag", 4, "add", "j", " ") == "[]"
    assert lua("tag", 4, "remove", "j", "t") == "[]"


@pytest.mark.parametrize("depth", [1, 999, 1000])
@pytest.mark.parametrize("brackets", ["[]", '{"a":}'])
def test_b17_data_of_a_thousand_levels_goes_all_the_way(lua, depth, brackets):
    opening, closing = brackets[:-1], brackets[-1]
    data = opening * depth + "1" + closing * depth
    lua.put(1, "j", data=data)

    assert lua.pop(2)[0]["data"] == data
    lua("heartbeat", 3, "j", "w", data)
    assert lua("complete", 4, "j", "w", "q", data) == "complete"
    with lua.refused("BAD_ARGUMENT", '"data" must be JSON'):
        lua.put(5, "k", data="[" * 1001 + "]" * 1001)


@pytest.mark.parametrize("data", ["NaN", "[Infinity]", '{"x":-Infinity}'])
def test_b18_a_job_that_holds_what_json_lacks_is_shown_run_and_canceled(lua, data):
    lua.put(1, "j", data=data)
    lua.put(1, "k", data=data)

    assert lua.job("j")["data"] == data
    assert [job["data"] for job in lua.pop(2, 2)] == [data, data]
    lua("heartbeat", 3, "j", "w", data)
    lua("fail", 4, "j", "w", "g", "m", data)
    assert lua("cancel", 5, "j") == ["j"]
    assert lua("complete", 6, "k", "w", "q", data) == "complete"


#: What cjson reads as a number, and no other reader of JSON does.
NOT_JSON = ("NaN", "nan", "-Infinity", "inf", "0x10", "+1", "01", "[nan]", '{"a":inf}')


@pytest.mark.parametrize("odd", NOT_JSON)
def test_b18_no_reply_is_spoiled_by_what_only_lua_takes_for_json(lua, redis, odd):
    lua.put(1, "good")
    lua.put(1, "bad", "priority", 5)
    redis.hset("ql:j:bad", mapping={"failure": f'{{"when":{odd}}}', "tags": f"[{odd}]"})
    redis.hset("ql:j:bad", "throttles", f"[{odd}]")
    redis.rpush("ql:j:bad-history", f'[1,"note",{{"x":{odd}}}]', f"[{odd}]", f'[{odd},"put"]')
    redis.rpush("ql:j:bad-history", f'[1,"note",{odd}]', f"[1,{odd}]")

    assert [job["jid"] for job in strict(lua("peek", 2, "q", 2))] == ["bad", "good"]
    assert [job["jid"] for job in strict(lua("pop", 2, "q", "w", 2))] == ["bad", "good"]
    assert strict(lua("get", 3, "bad"))["jid"] == "bad"
    assert strict(lua("track", 3))["jobs"] == []


@pytest.mark.parametrize("odd", NOT_JSON)
def test_b18_what_only_lua_takes_for_json_is_not_logged(lua, odd):
    lua.put(1, "j")

    with lua.refused("BAD_ARGUMENT", '"data" must be a JSON object'):
        lua("log", 2, "j", "note", f'{{"x":{odd}}}')


@pytest.mark.parametrize("odd", ['"a\nb"', '"\\q"', '"\\u12"', '"\\ud800"', '"\x7f\t"', '"', "\\"])
def test_b18_no_reply_is_spoiled_by_what_no_reader_takes_for_text(lua, redis, odd):
    lua.put(1, "good")
    lua.put(1, "bad", "priority", 5)
    redis.hset("ql:j:bad", mapping={"failure": f'{{"group":{odd}}}', "tags": f"[{odd}]"})
    redis.rpush("ql:j:bad-history", f"[1,{odd}]", f'[1,"note",{{"x":{odd}}}]', f"[1,{odd},{{}}]")
    redis.rpush("ql:j:bad-history", f'[1,"note",{{{odd}:1}}]', f'[1,"put",{{"q":{odd}}}]')

    assert [job["jid"] for job in strict(lua("pop", 2, "q", "w", 2))] == ["bad", "good"]
    assert strict(lua("get", 3, "bad"))["history"][0]["what"] == "put"


def strict(text):
    """Read JSON as readers do that know neither NaN nor infinities."""
    return json.loads(text, parse_constant=pytest.fail)
