"""How pages look is the reader's to choose: kept by the browser, and Redis has no part in it."""

from __future__ import annotations

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app
from qless_web.preferences import COOKIE
from tests.support.dom import parse


@pytest.fixture
def reader(client):
    """Give a browser that keeps its cookies."""
    return Browser(create_app(client))


def page(reader, path):
    answer = reader.get(path)
    assert answer.status_code == 200
    return parse(answer.get_data(as_text=True))


def choose(reader, **fields):
    answer = reader.post("/preferences", data=fields)
    assert answer.status_code == 303, answer.get_data(as_text=True)[:2_000]
    return answer.headers["Location"]


@pytest.fixture
def sixty(client):
    for number in range(60):
        client.queues["mail"].put("Send", {}, jid=f"job-{number}", tags=["vip"])


def rows(reader, path):
    return len(page(reader, path).all("tr", class_="row"))


@pytest.mark.usefixtures("sixty")
def test_a_list_has_as_many_rows_as_were_chosen_and_as_the_address_says(reader):
    path = "/queues/mail/waiting"
    assert rows(reader, path) == 25

    choose(reader, size="50")
    assert rows(reader, path) == 50
    assert rows(reader, f"{path}?page=2") == 10
    assert rows(reader, f"{path}?size=10&page=6") == 10
    assert rows(reader, f"{path}?size=11") == 50


@pytest.mark.usefixtures("sixty")
def test_the_number_of_rows_is_chosen_below_the_list_and_leads_back_to_its_beginning(reader):
    found = page(reader, "/tag/vip?state=waiting&size=10&page=3")
    (form,) = found.all("form", class_="pager-size")
    back = next(each for each in form.all("input")).attributes["value"]
    (pressed,) = [e for e in form.all("button") if e.attributes["aria-pressed"] == "true"]

    assert pressed.text == "10"
    assert choose(reader, size="100", return_to=back) == "/tag/vip?state=waiting"
    assert rows(reader, "/tag/vip?state=waiting") == 60


@pytest.mark.usefixtures("sixty")
def test_links_to_other_pages_show_everybody_the_same_rows(reader):
    choose(reader, size="10")
    links = {a.attributes.get("href") for a in page(reader, "/queues/mail/waiting").all("a")}

    assert "/queues/mail/waiting?size=10&page=2" in links


def test_chosen_columns_are_those_of_every_list_of_jobs(reader, client):
    client.queues["mail"].put("Send", {}, jid="a", tags=["vip"], priority=7)

    def heads():
        table = page(reader, "/queues/mail/waiting").one("table", id="jobs")
        return [each.text for each in table.all("th") if each.text]

    assert heads() == ["Job", "Tags", "Priority", "Retries left", "Put", "Actions"]

    choose(reader, columns="chosen", column=["queue", "priority"])
    assert heads() == ["Job", "Queue", "Priority", "Actions"]

    choose(reader, columns="own")
    assert heads() == ["Job", "Tags", "Priority", "Retries left", "Put", "Actions"]


def test_theme_and_density_are_in_the_page_before_any_script_runs(reader):
    choose(reader, theme="dark", density="compact")

    html = page(reader, "/").one("html").attributes
    assert (html["data-theme"], html["data-density"]) == ("dark", "compact")

    choose(reader, theme="system")
    html = page(reader, "/").one("html").attributes
    assert "data-theme" not in html
    assert html["data-density"] == "compact"


@pytest.mark.parametrize(
    ("choice", "title"),
    [
        ({"zone": "UTC"}, "2023-11-14 22:13:20 UTC"),
        ({"zone": "Asia/Tokyo"}, "2023-11-15 07:13:20 JST\n2023-11-14 22:13:20 UTC"),
        (
            {"zone": "browser", "browser_zone": "America/New_York"},
            "2023-11-14 17:13:20 EST\n2023-11-14 22:13:20 UTC",
        ),
        ({"zone": "browser", "browser_zone": ""}, "2023-11-14 22:13:20 UTC"),
    ],
)
def test_times_are_written_in_the_zone_that_was_chosen_and_in_utc(reader, client, choice, title):
    client.queues["mail"].put("Send", {}, jid="a")
    choose(reader, **choice)

    row = page(reader, "/queues/mail/waiting").one("tr", id="job-a")
    assert client.now() == 1_700_000_000
    assert row.one("time").attributes["title"] == title


def test_the_history_of_a_job_is_in_that_zone_and_says_so(reader, client):
    client.queues["mail"].put("Send", {}, jid="a")
    choose(reader, zone="Asia/Tokyo")

    table = page(reader, "/jobs/a").one("table", class_="events")
    assert "At (Asia/Tokyo)" in table.text
    assert "07:13:20" in table.text


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("theme", "neon", "none of system, light, dark"),
        ("size", "1000000", "none of 10, 25, 50, 100"),
        ("zone", "Mars/North", "no time zone “Mars/North”"),
        ("zone", "../etc/passwd", "no time zone"),
        ("columns", "state.secret", "no column “secret”"),
        ("keys", "maybe", "none of on, off"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_what_can(reader, field, value, says):
    answer = reader.post("/preferences", data={field: value})

    assert answer.status_code == 422
    assert says in answer.get_data(as_text=True)
    assert not reader.get_cookie(COOKIE)


@pytest.mark.parametrize(
    "cookie", ["", "%", "size=9", "a&b=&&theme=dark", "\udcff", "zone=" + "x" * 3_000]
)
def test_a_cookie_of_any_kind_spoils_no_page(client, cookie):
    answer = Browser(create_app(client), use_cookies=False).get(
        "/queues",
        headers={"Cookie": f"{COOKIE}={cookie}".encode("latin-1", "replace").decode("latin-1")},
    )

    assert answer.status_code == 200


def test_choices_are_forgotten(reader):
    choose(reader, theme="dark")
    reader.post("/preferences/forget")

    assert "data-theme" not in page(reader, "/").one("html").attributes


def test_nobody_is_led_out_of_the_console(reader):
    assert choose(reader, theme="dark", return_to="https://evil.example/") == "/preferences"
    assert choose(reader, theme="dark", return_to="//evil.example/") == "/preferences"


def test_another_site_chooses_nothing(reader):
    answer = reader.post(
        "/preferences", data={"theme": "dark"}, headers={"Sec-Fetch-Site": "cross-site"}
    )

    assert answer.status_code == 403


def test_it_is_chosen_where_redis_is_gone_or_may_only_be_read(client):
    choose(Browser(create_app(client, read_only=True)), theme="dark")
    with Client("redis://127.0.0.1:1/0") as gone:
        reader = Browser(create_app(gone))
        assert "Preferences" in page(reader, "/preferences").text
        assert "next row" in page(reader, "/help/keys").text
        choose(reader, density="compact")
        assert page(reader, "/preferences").one("html").attributes["data-density"] == "compact"
