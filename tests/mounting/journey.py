"""What has to work wherever a console is mounted."""

from __future__ import annotations

from urllib.parse import urljoin

from tests.support.crawl import crawl
from tests.support.dom import parse
from tests.support.html import toasts


def journey(site, client, *, streams=True):
    """Look around, act, and listen, as a browser that comes to a console at `site`."""
    client.queues["a/b ü"].put("Letter", {}, jid="x/y")
    client.queues["mail"].put("Letter", {}, jid="job")
    _pages(site)
    _assets(site)
    _actions(site, client)
    if streams:
        _stream(site, client)


def _pages(site):
    """Come without the last slash, and go wherever links lead."""
    assert site.follow(site.mount or "/").status_code == 200
    seen = list(crawl(site, f"{site.mount}/", alike=2))
    paths = {page.path for page in seen}
    assert {f"{site.mount}/queues", f"{site.mount}/jobs/x~2Fy"} <= paths
    broken = [(page.path, page.status) for page in seen if page.status != 200]
    assert broken == [], broken
    strays = {
        address
        for page in seen
        for _, _, address in page.addresses
        if address.startswith("/") and not address.startswith(f"{site.mount}/")
    }
    assert strays == set(), strays


def _assets(site):
    page = parse(site.get(f"{site.mount}/").text)
    assets = [each.attributes["src"] for each in page.all("script") if "src" in each.attributes]
    assets += [
        each.attributes["href"]
        for each in page.all("link")
        if each.attributes.get("rel") == "stylesheet"
    ]
    assert len(assets) > 1
    for asset in assets:
        answer = site.get(urljoin(f"{site.mount}/", asset))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
    # A slash too many is taken off, and the prefix is not.
    assert site.follow(f"{site.mount}/queues/").status_code == 200


def _actions(site, client):
    """Change something, and be told of it; a page of another site may not."""
    pause = f"{site.mount}/queues/mail/pause"
    assert site.post(pause, Origin="https://elsewhere.example").status_code == 403
    assert not client.queues["mail"].is_paused

    done = site.post(pause, Origin=site.origin)

    assert done.status_code == 303
    assert client.queues["mail"].is_paused
    place = urljoin(f"{site.origin}{pause}", done.headers["Location"])
    assert place.startswith(f"{site.origin}{site.mount}/")
    cookie = done.headers["Set-Cookie"]
    assert f"Path={site.mount}/" in cookie.split("; ")
    assert ("Secure" in cookie.split("; ")) == site.origin.startswith("https")
    told = site.get(place.removeprefix(site.origin), Cookie=cookie.partition(";")[0])
    assert "mail" in toasts(parse(told.text))
    client.queues["mail"].unpause()


def _stream(site, client):
    stream = site.listen("queues", "queue:mail")
    assert stream.status == 200
    stream.listener.wait_for("ready")
    client.queues["mail"].put("Letter", {})
    stream.listener.wait_for("change", "queue:mail")
    stream.leave()
