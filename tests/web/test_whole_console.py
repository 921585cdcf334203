"""What holds for every page at once: it answers, costs little, changes nothing, stays inside."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import pytest
import redis.connection
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_core.records import WorkerChild, WorkerInfo
from qless_web import create_app, trail
from qless_web.actions.action import ACTIONS
from qless_web.alerts import turning
from qless_web.demo import seeds
from qless_web.triage import handling
from tests.support.crawl import crawl
from tests.support.dom import parse
from tests.support.shop import AWKWARD, make_operation
from tests.support.stored import everything


def plant(client):
    """Seed a shop, and in it something by every awkward name."""
    seeds.plant(client)
    child = WorkerChild("running-0")
    client.workers.beat("running", WorkerInfo(queues=("mail", "sms-*"), children=(child,)))
    client.queues["mail"].put("Letter", {}, priority=99)
    with Client(redis=client.redis, worker_name=child.name) as worker:
        worker.queues["mail"].pop()
    client.workers.beat("paused", WorkerInfo(state="paused"))
    # The walk may take longer than a worker may be silent.
    alive = client.now() + 3_600
    client.redis.zadd(client.keys.workers, {"running": alive, "paused": alive})
    for name in AWKWARD:
        client.workers.beat(name, WorkerInfo(host=name, kind=name, queues=(name,)))
        queue = client.queues[name]
        # As other clients do: this one refuses what is no name of a class.
        data = json.dumps({name: name})
        client.commands.put(client.worker_name, name, name, name, data, 0, tags=[name])
        queue.put("Fails", {}, jid=f"{name}-failed", tags=[name])
        queue.recur("Again", {}, interval=3600, jid=f"{name}-again", tags=[name])
        client.track(name)
        for job in queue.pop(2):
            if job.jid.endswith("-failed"):
                job.fail(name, f"{name}: {name}")
    plant_what_is_rare(client)


def plant_what_is_rare(client):
    """Put what only some jobs have by names that the walk does not pass over."""
    queue = client.queues["rare/queue"]
    queue.put("First", {}, jid="rare/first", delay=9_999)
    queue.put("Waits", {}, jid="rare/waits", depends=["rare/first"])
    queue.recur("Again", {}, interval=3_600, jid="rare/held", offset=9_999)
    client.jobs["rare/held"].pause()
    client.redis.hset(client.keys.web("views"), "Rare", "/queues?sort=oldest")
    told = {"kind": "stalled", "url": "https://hooks.example.com/a"}
    client.redis.hset(client.keys.web("alerts:rules"), "Rare/alert", json.dumps(told))
    status = turning.Status(state="firing", since=1.0)
    client.redis.hset(client.keys.web("alerts:state"), "Rare/alert", status.stored)
    muted = handling.Handling(fold="muted", by="kim", at=1.0, note="known", assignee="kim")
    queue.put("Fails", {}, jid="rare/failed", priority=99)
    queue.pop().fail("rare/group", "no")
    handling.save(client, "rare/group", muted)
    changed = {"at": 1, "option": "application", "was": None, "now": "shop"}
    client.redis.lpush(client.keys.web("config:history"), json.dumps(changed))
    queue.recur("Again", {}, interval=3_600, jid="rare/again")
    for job in queue.pop(5):
        job.complete()
    plant_operations(client)


def plant_operations(client):
    """Make an operation in each state, something in the trash, and something in the audit."""
    queue = client.queues["rare/queue"]
    for number in range(3):
        queue.put("Job", {}, jid=f"rare/{number}", delay=9_999)
    for number, state in enumerate(("draft", "running", "paused", "done")):
        name = f"00000000000000b{number}"
        make_operation(client, "untrack", "rare/0", "gone", state=state, name=name)
    client.track("rare/1")
    make_operation(client, "untrack", "rare/1", state="done", name="00000000000000b8")
    make_operation(client, "cancel", "rare/0", state="draft", name="00000000000000b9")
    make_operation(client, "cancel", "rare/2", "gone", state="done", name="00000000000000ba")
    told = {"who": "kim", "address": "10.0.0.7", "counts": {"done": 1}}
    trail.write(client, trail.Entry(action="retry_job", **told), days=1, most=100)


@pytest.fixture(scope="module")
def shop():
    """One seeded server for all tests of this module: they only look."""
    with EmbeddedServer() as server, Client(server.url) as client:
        plant(client)
        yield client


@pytest.fixture(scope="module", params=["", "/a/b-c"], ids=["at the root", "under a prefix"])
def prefix(request):
    return request.param


@pytest.fixture(scope="module")
def web(shop, prefix):
    return browser_for(create_app(shop), prefix)


@pytest.fixture(scope="module")
def visit(shop, web, prefix):
    """One walk through everything: what was seen, and what was stored before and after."""
    with pytest.MonkeyPatch.context() as patch:
        trips = count_trips(patch)
        before, seen, costs = everything(shop.redis), [], {}
        trips.clear()
        for page in crawl(web, f"{prefix}/"):
            seen.append(page)
            costs[page.path] = len(trips)
            trips.clear()
    return Visit(seen, costs, before, everything(shop.redis))


@dataclass
class Visit:
    seen: list
    costs: dict
    before: dict
    after: dict


def browser_for(app, prefix):
    mounted = (
        DispatcherMiddleware(lambda *_: pytest.fail("outside"), {prefix: app}) if prefix else app
    )
    return Browser(LintMiddleware(mounted))


def count_trips(patch):
    """Count what is sent to Redis: one pipeline is one trip."""
    trips = []
    send = redis.connection.AbstractConnection.send_packed_command

    def count(self, command, *args, **kwargs):
        trips.append(command)
        return send(self, command, *args, **kwargs)

    patch.setattr(redis.connection.AbstractConnection, "send_packed_command", count)
    return trips


def test_every_link_of_the_console_leads_to_a_page(visit):
    assert len(visit.seen) > 100
    assert [
        (page.path, page.status, page.found_on) for page in visit.seen if page.status != 200
    ] == []


def test_every_action_is_offered_on_some_page(visit, prefix):
    routes = create_app("redis://localhost:1/0").url_map.bind("here")
    offered = set()
    for page in visit.seen:
        for _, name, value in page.addresses:
            path = urlsplit(urljoin(page.path, value)).path.removeprefix(prefix)
            if name in {"href", "action", "formaction"} and routes.test(path, "POST"):
                offered.add(routes.match(path, "POST")[0].removeprefix("act."))

    assert sorted(ACTIONS.keys() - offered) == []


def test_nothing_leads_out_of_the_prefix(visit, prefix):
    strays = {
        (name, value)
        for page in visit.seen
        for _, name, value in page.addresses
        if value.startswith("/") and not value.startswith(f"{prefix}/")
    }

    assert strays == set()


def test_pages_load_nothing_from_elsewhere(visit):
    foreign = {
        value
        for page in visit.seen
        for tag, name, value in page.addresses
        if urlsplit(value).netloc and (tag, name) != ("a", "href")
    }

    assert foreign == set()


def test_looking_at_everything_changes_nothing(visit):
    assert len(visit.before) > 100
    assert visit.after == visit.before


def test_no_page_needs_more_than_three_round_trips(visit):
    assert max(visit.costs.values()) > 0
    # A whole list as a file is no page: it is read stretch by stretch.
    files = ("/export/", "?report=")
    pages = {
        path: cost for path, cost in visit.costs.items() if not any(part in path for part in files)
    }
    assert {path: cost for path, cost in pages.items() if cost > 3} == {}


def test_every_html_id_stands_once_on_its_page(visit):
    for page in visit.seen:
        ids = re.findall(r"\sid=\"([^\"]*)\"", page.body)
        assert [each for each in set(ids) if ids.count(each) > 1] == [], page.path


@pytest.mark.parametrize("prefix", [""], indirect=True)
def test_every_column_of_every_table_has_something_to_show(visit):
    shown = {}
    for page in visit.seen:
        for table in parse(page.body).all("table"):
            heads = [each.text for each in table.one("thead") if each.tag in {"th", "td"}]
            for row in table.rows:
                for head, cell in zip(heads, row.all("td"), strict=True):
                    column = table.one("caption").text, head
                    shown[column] = shown.get(column, False) or says_something(cell)

    assert len(shown) > 50
    assert sorted(column for column, said in shown.items() if not said) == []


def says_something(cell):
    drawn = cell.all("svg") or cell.all("input")
    return bool(drawn or cell.text not in {"", "\N{EN DASH}"})


READER = (
    "on", ">secret", "~ql:*", "&ql:*", "+@read", "+@connection", "+@pubsub", "+info", "+time",
)  # fmt: skip


def test_a_user_who_may_only_read_is_known_as_one_from_the_first_page_that_works(tmp_path):
    server = EmbeddedServer(tmp_path / "later")
    url = f"unix://console:secret@{tmp_path}/later/valkey.sock"
    web = browser_for(create_app(url), "")
    assert web.get("/").status_code == 503

    with server:
        with Client(server.url) as owner:
            owner.redis.execute_command("ACL", "SETUSER", "console", *READER)
        page = web.get("/").get_data(as_text=True)

    assert "read-only" in page


def test_a_user_who_may_only_read_sees_everything(shop):
    shop.redis.execute_command("ACL", "SETUSER", "console", *READER)
    reader = Client(shop.url.replace("unix://", "unix://console:secret@"))
    web = browser_for(create_app(reader), "")
    before = everything(shop.redis)
    try:
        seen = list(crawl(web, "/", alike=4))
        refused = web.post("/queues/mail/pause", headers={"Sec-Fetch-Site": "same-origin"})
        ready = web.get("/readyz")
    finally:
        reader.close()
        shop.redis.execute_command("ACL", "DELUSER", "console")

    assert len(seen) > 100
    assert [(page.path, page.status) for page in seen if page.status != 200] == []
    assert [page.path for page in seen if page.body and "read-only" not in page.body] == []
    assert refused.status_code == 403
    assert ready.status_code == 200
    assert everything(shop.redis) == before


ODD = ["0", "-1", "1.5", "1e30", "nan", "", "abc", "٣", "%00", "1&page=2"]
BEYOND = ["99999999", "9" * 400]


LISTS = (
    "/queues", "/queues/thumbnails/waiting", "/queues/mail/recurring", "/failed", "/completed",
    "/track", "/tags", "/tag?tag=vip", "/workers", "/failed/webhooks-HTTPError",
)  # fmt: skip


def numbered(web, prefix, path, number):
    """Read a page of a list: its status and what it shows, whatever the number in it is."""
    answer = web.get(f"{prefix}{path}{'&' if '?' in path else '?'}page={number}")
    return answer.status_code, parse(answer.get_data(as_text=True)).one("main")


@pytest.mark.parametrize("path", LISTS)
def test_b24_what_is_no_page_number_is_the_first_page(web, prefix, path):
    first = numbered(web, prefix, path, 1)[1].row_ids
    found = {number: numbered(web, prefix, path, number) for number in ODD}

    assert {number: status for number, (status, _) in found.items() if status != 200} == {}
    assert [number for number, (_, main) in found.items() if main.row_ids != first] == []


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("number", BEYOND)
def test_b24_a_page_after_the_last_says_so_and_leads_back(web, prefix, path, number):
    status, main = numbered(web, prefix, path, number)
    (back,) = (each for each in main.all("a") if each.text.startswith("Go to page"))

    assert status == 200
    assert "There is no page" in main.text
    assert not main.row_ids
    assert parse(web.get(back.attributes["href"]).get_data(as_text=True)).one("main").row_ids


@pytest.mark.parametrize(
    "path",
    [
        "/nothing", "/jobs/no-such-job", "/failed/no-such-group", "/queues/no-such-queue",
        "/workers/no-such-worker", "/queues/mail/no-such-tab", "/static/x/no.css",
    ],
)  # fmt: skip
def test_what_is_not_there_is_404(web, prefix, path):
    assert web.get(f"{prefix}{path}").status_code == 404


def test_the_original_addresses_answer(web, prefix):
    found = {
        path: web.get(f"{prefix}{path}").status_code
        for path in (
            "/", "/queues", "/queues.json", "/queues/mail.json", "/queues/mail",
            "/queues/mail/running", "/queues/mail/waiting", "/queues/mail/scheduled",
            "/queues/mail/stalled", "/queues/mail/depends", "/queues/mail/recurring",
            "/queues/mail/stats", "/failed",
            "/failed.json", "/completed", "/track", "/workers", "/tag?tag=vip", "/config", "/about",
        )
    }  # fmt: skip

    assert {path: status for path, status in found.items() if status != 200} == {}


def test_every_answer_carries_the_headers_that_protect_it(web, prefix):
    for path in ("/", "/jobs/no-such-job", "/static/x/css/tokens.css", "/queues.json"):
        with web.get(prefix + path) as response:
            headers = response.headers

        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] in {"no-store", "no-cache"}


def test_without_redis_every_page_says_so_and_nothing_breaks():
    web = browser_for(create_app("redis://:s3cr3t-word@127.0.0.1:1/0"), "")

    answers = [
        web.get(path) for path in ("/", "/queues", "/jobs/x", "/failed", "/queues.json", "/readyz")
    ]

    assert {answer.status_code for answer in answers} == {503}
    assert all("s3cr3t-word" not in answer.get_data(as_text=True) for answer in answers)
    assert all("127.0.0.1:1" in answer.get_data(as_text=True) for answer in answers)
    assert web.get("/healthz").status_code == 200
