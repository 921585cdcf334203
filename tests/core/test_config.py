from __future__ import annotations

import datetime as dt
import re

import pytest

from qless_core.errors import BadArgument
from qless_core.options import OPTIONS, option_of


def test_the_defaults_are_those_of_the_script(client):
    listed = {option.name: option.default for option in OPTIONS if option.is_listed}

    assert client.commands.config() == listed


def test_the_unlisted_defaults_are_those_of_the_script(client, redis):
    unlisted = {
        option.name: option.default
        for option in OPTIONS
        if not option.is_listed and option.default and "<" not in option.name
    }

    for name, default in unlisted.items():
        assert client.config[name] == default
        redis.hset("ql:config", name, "no number")
        assert client.config[name] == default


def test_options_are_a_mapping(client):
    config = client.config

    config["heartbeat"] = 30
    config.set("mine", "text", force=True)

    assert config["heartbeat"] == 30
    assert config["mine"] == "text"
    assert "heartbeat" in config
    assert "nothing" not in config
    assert config.get("nothing", 5) == 5
    assert config.all["heartbeat"] == 30
    assert config.all["application"] == "qless"
    assert len(config) == len(config.all) == len([*config])
    del config["heartbeat"]
    assert config["heartbeat"] == 60
    config.clear()
    assert "mine" not in config


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("hartbeat", "did you mean 'heartbeat'"),
        ("max_job_history", "did you mean 'max-job-history'"),
        ("mail-heartbeet", "did you mean 'mail-heartbeat'"),
        ("mail-maxconcurrency", "did you mean 'mail-max-concurrency'"),
        ("mail-max-concurency", "did you mean 'mail-max-concurrency'"),
        ("colour", "`qless config` lists them"),
        ("<queue>-colour", "`qless config` lists them"),
        ("-hartbeat", "`qless config` lists them"),
    ],
)
def test_a_name_that_is_no_option_is_refused_and_the_right_one_named(client, redis, name, meant):
    with pytest.raises(BadArgument, match=re.escape(meant)) as refusal:
        client.config[name] = 5
    assert repr(name) in str(refusal.value)
    assert not redis.exists("ql:config")

    client.config.set(name, 5, force=True)
    assert client.config[name] == "5"


def test_force_lets_no_senseless_value_into_an_option_of_ours(client):
    with pytest.raises(BadArgument):
        client.config.set("heartbeat", "abc", force=True)


def test_a_timedelta_is_what_the_option_counts(client, redis):
    client.config["heartbeat"] = dt.timedelta(minutes=2)
    client.config["stats-history"] = dt.timedelta(weeks=2)
    client.queues["mail"].heartbeat = dt.timedelta(seconds=90)

    assert redis.hgetall("ql:config") == {
        "heartbeat": "120",
        "stats-history": "14",
        "mail-heartbeat": "90",
    }
    for option in ("mail-max-concurrency", "application"):
        with pytest.raises(BadArgument, match="counts no time"):
            client.config[option] = dt.timedelta(1)


@pytest.mark.parametrize("name", ["heartbeat", "mail-heartbeat", "grace-period"])
@pytest.mark.parametrize("value", ["abc", "", "-5", "1e400", "nan", -1, float("inf"), True])
def test_b20_senseless_numbers_are_refused_and_nothing_is_written(client, redis, name, value):
    with pytest.raises(BadArgument, match=name):
        client.config[name] = value

    assert not redis.exists("ql:config")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jobs-history-count", "abc"),
        ("jobs-history-count", "0"),
        ("jobs-history-count", "-1"),
        ("jobs-history-count", 1.5),
        ("jobs-history", 0),
        ("mail-max-concurrency", -5),
        ("stats-history", 0),
        ("application", " "),
    ],
)
def test_b20_options_of_every_kind_are_checked(client, redis, name, value):
    with pytest.raises(BadArgument, match=name):
        client.config[name] = value

    assert not redis.exists("ql:config")


@pytest.mark.parametrize("stored", ["abc", "", "1e400", "nan"])
def test_b20_garbage_that_is_stored_stops_nobody(client, redis, stored):
    redis.hset("ql:config", mapping={"heartbeat": stored, "grace-period": stored})
    redis.hset("ql:config", mapping={"jobs-history-count": stored, "q-heartbeat": stored})

    assert client.config["heartbeat"] == 60
    client.queues["q"].put("Job", {}, jid="a")
    job = client.queues["q"].pop()
    assert job.ttl == 60
    job.complete()
    assert client.jobs["a"].state == "complete"


def test_numbers_come_back_as_numbers_however_they_were_stored(client):
    client.config["heartbeat"] = "30"
    client.config["grace-period"] = 2.5

    assert client.config["heartbeat"] == 30
    assert isinstance(client.config["heartbeat"], int)
    assert client.config["grace-period"] == 2.5


def test_the_options_of_a_queue_belong_to_a_pattern():
    assert option_of("mail-heartbeat").name == "<queue>-heartbeat"
    assert option_of("heartbeat").name == "heartbeat"
    assert option_of("-heartbeat") is None
    assert option_of("anything") is None


def test_every_option_explains_itself():
    for option in OPTIONS:
        assert option.help.endswith(".")
        assert option.default is None or option.complaint(option.default) is None
