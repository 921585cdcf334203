from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from qless_web.settings import SETTINGS, SettingError, Settings, state_folder
from tests.support.processes import ROOT


def test_every_setting_has_a_flag_a_variable_and_a_sentence(qless_web):
    usage = qless_web.run("--help").stdout

    for setting in SETTINGS:
        assert setting.flag in usage
        assert setting.env[0] == f"QLESS_WEB_{setting.name.upper()}"
        assert setting.help


def test_every_default_passes_its_own_check():
    settings = Settings()

    assert {setting.name: setting.default for setting in SETTINGS} == settings.values()


def test_the_reference_says_what_the_table_says():
    text = (ROOT / "docs/reference/settings.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]

    assert rows == [
        [
            f"`{setting.name}`",
            f"`{_written(setting.default)}`" if _written(setting.default) else "",
            f"`{setting.flag}`" + (f", `-{setting.letter}`" if setting.letter else ""),
            ", ".join(f"`{name}`" for name in setting.env),
            setting.help,
        ]
        for setting in SETTINGS
    ]


def _written(default):
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    if isinstance(default, bool):
        return "yes" if default else "no"
    return "" if default in (None, (), "") else str(default)


def test_every_setting_is_read_by_something():
    sources = (ROOT / "qless_web").rglob("*.py")
    code = "\n".join(path.read_text() for path in sources if path.name != "settings.py")

    assert [each.name for each in SETTINGS if not re.search(rf"\.{each.name}\b", code)] == []


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().port = 1


def test_text_becomes_values():
    settings = Settings.build(
        port="80",
        read_only="yes",
        live_tick_s="0.5",
        trusted_hosts="a.example, b.example",
        trusted_origins=["https://a.example/"],
        prefix="ops/qless/",
        embedded="no",
        pid_file="/run/qless.pid",
    )

    assert settings.port == 80
    assert settings.read_only is True
    assert settings.live_tick_s == 0.5
    assert settings.trusted_hosts == ("a.example", "b.example")
    assert settings.trusted_origins == ("https://a.example",)
    assert settings.prefix == "/ops/qless"
    assert settings.embedded is None
    assert settings.pid_file == Path("/run/qless.pid")


def test_embedded_without_a_folder_takes_the_usual_one(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert Settings.build(embedded="yes").embedded == state_folder() / "data"
    assert Settings.build(embedded="some/folder").embedded == Path("some/folder")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "80x"),
        ("port", 65536),
        ("port", -1),
        ("port", True),
        ("port", "²"),
        ("threads", 1),
        ("threads", None),
        ("live_tick_s", "soon"),
        ("live_tick_s", "nan"),
        ("live_tick_s", 0),
        ("read_only", "maybe"),
        ("prefix", "/a/../b"),
        ("prefix", "/a b"),
        ("host", " "),
        ("namespace", ""),
        ("redis_url", "http://localhost"),
        ("redis_url", "redis://localhost:port"),
        ("redis_url", "unix://"),
        ("trusted_origins", "ops.example.com"),
        ("trusted_hosts", 7),
        ("environment_colour", "pink"),
    ],
)
def test_a_senseless_value_is_refused_by_name(name, value):
    with pytest.raises(SettingError, match=f"{name}|Redis URL"):
        Settings.build(**{name: value})


def test_an_unknown_name_is_refused_and_the_nearest_is_named():
    with pytest.raises(SettingError, match="no setting treads; the nearest is threads"):
        Settings.build(treads=10)


def test_variables_set_what_nothing_else_says():
    environ = {"QLESS_WEB_PORT": "80", "QLESS_WEB_THREADS": "50", "QLESS_WEB_HOST": ""}

    settings = Settings.from_env(environ, port=81)

    assert (settings.port, settings.threads, settings.host) == (81, 50, "127.0.0.1")


def test_our_own_variable_wins_over_redis_url():
    both = {"REDIS_URL": "redis://one", "QLESS_WEB_REDIS_URL": "redis://two"}

    assert Settings.from_env({"REDIS_URL": "redis://one"}).redis_url == "redis://one"
    assert Settings.from_env(both).redis_url == "redis://two"


def test_a_variable_with_a_senseless_value_is_refused_by_its_name():
    with pytest.raises(SettingError, match=r"^QLESS_WEB_PORT must be a whole number"):
        Settings.from_env({"QLESS_WEB_PORT": "http"})


def test_a_misspelt_variable_is_refused():
    with pytest.raises(SettingError, match=r"QLESS_WEB_READONLY.*QLESS_WEB_READ_ONLY"):
        Settings.from_env({"QLESS_WEB_READONLY": "yes"})


def test_what_kubernetes_sets_for_a_service_of_our_name_is_left_alone():
    environ = {
        "QLESS_WEB_PORT": "tcp://10.0.0.7:80",
        "QLESS_WEB_PORT_80_TCP": "tcp://10.0.0.7:80",
        "QLESS_WEB_PORT_80_TCP_PORT": "80",
        "QLESS_WEB_SERVICE_HOST": "10.0.0.7",
        "QLESS_WEB_SERVICE_PORT": "80",
    }

    assert Settings.from_env(environ).port == 5678


@pytest.mark.parametrize(
    "url",
    [
        "redis://user:hunter2@redis.example:6379/0",
        "rediss://:hunter2@redis.example",
        "redis://redis.example?password=hunter2",
        "redis://:hun/hunter2@redis.example:port",
    ],
)
def test_a_password_is_never_shown(url):
    try:
        shown = repr(Settings.build(redis_url=url, threads=7))
    except SettingError as refusal:
        shown = str(refusal)

    assert "hunter2" not in shown


def test_the_representation_says_what_differs_from_the_defaults():
    assert re.fullmatch(r"Settings\(threads=7\)", repr(Settings.build(threads="7")))
