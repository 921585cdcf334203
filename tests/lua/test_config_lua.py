from __future__ import annotations

DEFAULTS = {
    "application": "qless",
    "heartbeat": 60,
    "grace-period": 10,
    "stats-history": 30,
    "histogram-history": 7,
    "jobs-history-count": 50000,
    "jobs-history": 604800,
}


def test_options_are_numbers_until_they_are_set(lua):
    assert lua.json("config.get", 1) == DEFAULTS

    with lua.hearing() as heard:
        assert lua("config.set", 2, "heartbeat", 30) is None
        lua("config.set", 3, "mine", 'a "b"')

    assert heard == [
        ["ql:log", '{"option":"heartbeat","event":"config_set","value":"30"}'],
        ["ql:log", '{"option":"mine","event":"config_set","value":"a \\"b\\""}'],
    ]
    assert lua.json("config.get", 4) == {**DEFAULTS, "heartbeat": "30", "mine": 'a "b"'}


def test_one_option(lua):
    assert lua("config.get", 1, "heartbeat") == 60
    assert lua("config.get", 1, "application") == "qless"
    assert lua("config.get", 1, "max-job-history") is None
    assert lua("config.get", 1, "unknown") is None

    lua("config.set", 2, "heartbeat", "30")
    assert lua("config.get", 3, "heartbeat") == "30"

    with lua.hearing() as heard:
        assert lua("config.unset", 4, "heartbeat") is None
    assert heard == [["ql:log", '{"event":"config_unset","option":"heartbeat"}']]
    assert lua("config.get", 5, "heartbeat") == 60
