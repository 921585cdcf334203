"""The data of a job arrives as it is stored, to the last digit."""

from __future__ import annotations

import json

import pytest

EXACT = [
    '{"n": 1.10, "big": 12345678901234567890.000}',
    '{"n":1e400,"m":-0.0,"digits":' + "9" * 5_000 + "}",
    " [ 1 ,\n\t2 ] ",
    '{"a":1,"a":2}',
    '"\\ud800"',
    '{"ü":"🙂"}',
    "null",
    "[" * 900 + "]" * 900,
]

NO_JSON = ["NaN", '{"a": Infinity}', "{'a': 1}", "{", "[1,]", "01"]


def store(redis, shop, data):
    shop.put("a")
    redis.hset("ql:j:a", "data", data)


def no_constants(word):
    pytest.fail(f"{word} is not JSON")


@pytest.mark.parametrize("data", EXACT, ids=lambda data: ascii(data)[1:21])
def test_c2_json_passes_through_byte_for_byte(api, redis, shop, data):
    store(redis, shop, data)

    answer = api.get("/api/v1/jobs/a")
    alone = api.get("/api/v1/jobs/a/data")

    assert f'"value":{data},"text":null'.encode() in answer.data
    assert alone.data == data.encode()
    assert alone.mimetype == "application/json"


@pytest.mark.parametrize("data", NO_JSON)
def test_what_is_no_json_is_sent_as_text(api, redis, shop, data):
    store(redis, shop, data)

    answer = json.loads(api.get("/api/v1/jobs/a").data, parse_constant=no_constants)
    alone = api.get("/api/v1/jobs/a/data")

    assert answer["data"] == {
        "value": None,
        "text": data,
        "bytes": len(data),
        "is_whole": True,
    }
    assert alone.data == data.encode()
    assert alone.mimetype == "text/plain"


def test_bytes_that_are_no_text_are_sent_as_they_are(api, redis, shop):
    store(redis, shop, b'{"a":"\xff\xfe"}')

    answer = api.get("/api/v1/jobs/a")
    alone = api.get("/api/v1/jobs/a/data")

    assert answer.json["data"]["value"] is None
    assert answer.json["data"]["text"].encode(errors="surrogateescape") == b'{"a":"\xff\xfe"}'
    assert alone.data == b'{"a":"\xff\xfe"}'
    assert alone.mimetype == "text/plain"


def test_what_is_large_is_sent_alone(api, redis, shop):
    data = json.dumps({"long": "x" * 3_000_000})
    store(redis, shop, data)

    answer = api.get("/api/v1/jobs/a").json

    assert answer["data"] == {
        "value": None,
        "text": None,
        "bytes": len(data),
        "is_whole": False,
    }
    assert api.get("/api/v1/jobs/a/data").data == data.encode()


def test_no_number_that_others_left_in_redis_becomes_nan(api, redis, shop):
    shop.fail("a")
    redis.hset(
        "ql:j:a",
        mapping={
            "priority": "nan",
            "expires": "inf",
            "time": "-inf",
            "failure": '{"group":"boom","message":"x","when":NaN,"worker":"w"}',
            "retries": "many",
        },
    )
    redis.rpush("ql:j:a-history", '[1,"log",{"n":NaN,"deep":[Infinity,1e999]}]')

    for path in ("/jobs/a", "/failures/boom/jobs"):
        answer = api.get(f"/api/v1{path}")
        assert answer.status_code == 200
        json.loads(answer.data, parse_constant=no_constants)


def test_history_that_is_nested_deeply_is_no_error(api, redis, shop):
    shop.put("a")
    redis.rpush("ql:j:a-history", '[1,"log",{"deep":' + "[" * 800 + "]" * 800 + "}]")

    assert api.get("/api/v1/jobs/a").status_code == 200


def test_a_state_that_is_none_is_told_as_unknown(api, redis, shop, judge):
    shop.put("a")
    redis.hset("ql:j:a", "state", "dreaming")

    (job,) = api.get("/api/v1/queues/mail/jobs").json["items"]

    assert job["state"] == "unknown"
    assert judge({"$ref": "#/components/schemas/JobEntry"}, job) == []


def test_the_recurring_job_has_its_data_too(api, shop):
    shop.client.queues["mail"].recur("Again", {"n": 1}, interval=60, jid="r")

    answer = api.get("/api/v1/jobs/r").json

    assert answer["kind"] == "recurring"
    assert answer["recurring"]["interval"] == 60
    assert answer["data"]["value"] == {"n": 1}
    assert api.get("/api/v1/jobs/r/data").json == {"n": 1}
