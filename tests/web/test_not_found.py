"""An address that leads nowhere offers to look for what it may have named."""

from __future__ import annotations

import pytest
from werkzeug.test import Client as Browser

from qless_web import create_app
from tests.support.dom import parse


@pytest.fixture
def offered(client):
    """Open an address that leads nowhere; answers the addresses that its page offers."""
    web = Browser(create_app(client))

    def offered(path):
        answer = web.get(path)
        assert answer.status_code == 404
        main = parse(answer.get_data(as_text=True)).one("main")
        return [link for link in main.links if link.startswith("/search")]

    return offered


@pytest.mark.parametrize(
    ("path", "links"),
    [
        ("/queues/eu/orders", ["/search?q=eu/orders", "/search?q=orders"]),
        ("/queue/mail", ["/search?q=mail"]),
        ("/a/b~2Fc/d", ["/search?q=b/c/d", "/search?q=d"]),
        ("/mail", ["/search?q=mail"]),
        ("/tag/~~" + "0" * 40, []),
    ],
)
def test_a_search_for_the_rest_of_the_address_and_for_its_end_is_offered(offered, path, links):
    assert offered(path) == links


def test_the_search_leads_to_a_queue_with_a_slash_in_its_name(client, offered):
    client.queues["eu/orders"].put("Order", {})

    (whole, _) = offered("/queues/eu/orders")

    answer = Browser(create_app(client)).get(whole)
    assert answer.headers["Location"] == "/queues/eu~2Forders"
