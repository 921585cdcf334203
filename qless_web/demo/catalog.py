"""What the made-up shop does, and what goes wrong there: texts and numbers, no Redis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

PEOPLE: Final = ("ada", "björn", "chioma", "dmitri", "emre", "fatima", "grace", "haruki", "inês")
COUNTRIES: Final = ("de", "fr", "jp", "ng", "pt", "se", "tr", "us")
CARRIERS: Final = ("postnord", "dhl", "ups", "chronopost")

#: Where an order goes when a stage of it is done; it ends after the last.
STAGES: Final = {
    "checkout": "payments",
    "eu/orders": "payments",
    "payments": "warehouse",
    "warehouse": "mail",
}


def order(chance: Random) -> dict[str, Any]:
    """Make up an order."""
    items = [
        {"sku": f"SKU-{chance.randint(1000, 1400)}", "count": chance.randint(1, 3)}
        for _ in range(chance.randint(1, 4))
    ]
    return {
        "order": chance.randint(180_000, 199_999),
        "customer": {"name": chance.choice(PEOPLE), "country": chance.choice(COUNTRIES)},
        "items": items,
        "total_cents": chance.randint(990, 48_990),
    }


def product(chance: Random) -> dict[str, Any]:
    """Make up a product."""
    return {"product": chance.randint(1000, 1400), "locale": chance.choice(("de", "en", "fr"))}


def picture(chance: Random) -> dict[str, Any]:
    """Make up a picture to make smaller."""
    number = chance.randint(1000, 1400)
    return {
        "source": f"s3://shop-media/products/{number}/original.jpg",
        "widths": [160, 480, 1200],
    }


def letter(chance: Random) -> dict[str, Any]:
    """Make up a mail to send."""
    return {
        "template": chance.choice(("receipt", "shipped", "welcome", "password-reset")),
        "to": f"{chance.choice(PEOPLE)}@customers.example",
        "order": chance.randint(180_000, 199_999),
    }


def delivery(chance: Random, partner: int | None = None) -> dict[str, Any]:
    """Make up a webhook to deliver, to a partner (1 to 9) or to any."""
    return {
        "url": f"https://hooks.partner-{partner or chance.randint(1, 9)}.example/orders",
        "event": chance.choice(("order.created", "order.paid", "order.shipped")),
        "order": chance.randint(180_000, 199_999),
    }


def report(chance: Random) -> dict[str, Any]:
    """Make up a report to write."""
    return {"month": f"2026-{chance.randint(1, 12):02d}", "format": chance.choice(("csv", "xlsx"))}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of work."""

    klass: str
    queue: str
    data: Callable[[Random], dict[str, Any]]
    #: Seconds that one takes: the shortest and the longest.
    takes_s: tuple[float, float]
    tags: tuple[str, ...] = ()
    priority: int = 0


KINDS: Final = (
    Kind("shop.orders.Order", "checkout", order, (0.4, 2.5), ("order",), 10),
    Kind("shop.orders.Order", "eu/orders", order, (0.5, 3.0), ("order", "eu"), 10),
    Kind("shop.payments.Refund", "payments", order, (0.6, 3.0), ("refund",), 5),
    Kind("shop.mail.Letter", "mail", letter, (0.3, 1.2), ("mail",)),
    Kind("shop.images.Thumbnails", "thumbnails", picture, (1.0, 4.0), ("media",)),
    Kind("shop.search.IndexProduct", "search-index", product, (0.2, 0.8), ("search",)),
    Kind("shop.hooks.Delivery", "webhooks", delivery, (0.3, 2.0), ("partner",)),
    Kind("Shop::Accounting::Export", "exports", report, (15.0, 45.0), ("accounting",), -5),
    Kind("Shop::Warehouse::PrintLabel", "warehouse", order, (0.4, 1.5), ("label",)),
)
BY_QUEUE: Final = {kind.queue: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One way in which the work of a queue fails."""

    queue: str
    #: Of whose jobs; other classes in the queue do not meet it.
    klass: str
    group: str
    #: Text with places for what the job is about, and for details that `tell` makes up.
    message: str
    #: How many of these the shop begins with, and has most of the time.
    count: int

    def tell(self, data: dict[str, Any], chance: Random) -> str:
        """Tell what happened to a job with this data, with other details each time."""
        number = data.get("order") or chance.randint(180_000, 199_999)
        made_up = {
            "order": number,
            "carrier": CARRIERS[number % len(CARRIERS)],
            "ms": chance.randint(10_000, 10_999),
            "address": f"0x{chance.getrandbits(44):012x}",
            "trace": f"{chance.getrandbits(64):016x}",
        }
        return self.message.format_map(made_up | data)


TROUBLES: Final = (
    Trouble(
        "payments",
        "shop.orders.Order",
        "payments-CardDeclined",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/orders.py", line 118, in payments
    receipt = gateway.capture(self.order, cents=self.total)
  File "/srv/shop/current/shop/payments/gateway.py", line 74, in capture
    raise CardDeclined(answer["decline_code"], trace=answer["trace_id"])
shop.payments.errors.CardDeclined: insufficient_funds for order {order} (trace {trace})
""",
        14,
    ),
    Trouble(
        "payments",
        "shop.orders.Order",
        "payments-ReadTimeout",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/orders.py", line 118, in payments
    receipt = gateway.capture(self.order, cents=self.total)
  File "/srv/shop/current/shop/payments/gateway.py", line 66, in capture
    answer = self.session.post(self.url, json=payload, timeout=10)
  File "/srv/shop/venv/lib/python3.12/site-packages/requests/sessions.py", line 637, in post
    return self.request("POST", url, data=data, json=json, **kwargs)
  File "/srv/shop/venv/lib/python3.12/site-packages/requests/adapters.py", line 713, in send
    raise ReadTimeout(e, request=request)
requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='api.payments.example', port=443): \
no answer for order {order} after {ms} ms
""",
        9,
    ),
    Trouble(
        "webhooks",
        "shop.hooks.Delivery",
        "webhooks-HTTPError",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/hooks.py", line 52, in process
    answer.raise_for_status()
  File "/srv/shop/venv/lib/python3.12/site-packages/requests/models.py", line 1024, in raise_for_status
    raise HTTPError(http_error_msg, response=self)
requests.exceptions.HTTPError: 502 Server Error: Bad Gateway for url: \
{url}?order={order}
""",  # noqa: E501 - a line of a traceback is as long as it is
        30,
    ),
    Trouble(
        "mail",
        "shop.mail.Letter",
        "mail-SMTPServerDisconnected",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/mail.py", line 31, in process
    connection.send_message(self.message())
  File "/usr/lib/python3.12/smtplib.py", line 405, in getreply
    raise SMTPServerDisconnected("Connection unexpectedly closed")
smtplib.SMTPServerDisconnected: Connection unexpectedly closed

The message to {to} was not handed over.
""",
        7,
    ),
    Trouble(
        "thumbnails",
        "shop.images.Thumbnails",
        "thumbnails-BrokenUpload",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/images.py", line 44, in process
    with Image.open(source) as original:
  File "/srv/shop/venv/lib/python3.12/site-packages/PIL/Image.py", line 3536, in open
    raise UnidentifiedImageError(msg)
PIL.UnidentifiedImageError: cannot identify image file <_io.BytesIO object at {address}>

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/shop/current/shop/images.py", line 49, in process
    raise BrokenUpload(f"{{source}} is no readable picture")
shop.images.BrokenUpload: {source} is no readable picture
""",
        6,
    ),
    Trouble(
        "exports",
        "Shop::Accounting::Export",
        "exports-NoMethodError",
        """\
NoMethodError: undefined method `iso8601' for nil:NilClass

/srv/accounting/app/exports/ledger.rb:41:in `row_for'
/srv/accounting/app/exports/ledger.rb:27:in `block in write'
/srv/accounting/app/exports/ledger.rb:26:in `each'
/srv/accounting/app/exports/ledger.rb:26:in `write'
/srv/accounting/lib/export.rb:12:in `perform'
{month}: order {order} has no booking date
""",
        4,
    ),
    Trouble(
        "warehouse",
        "Shop::Warehouse::PrintLabel",
        "warehouse-Faraday::TimeoutError",
        """\
Faraday::TimeoutError: Net::ReadTimeout with #<TCPSocket:(closed)>

/srv/warehouse/vendor/bundle/faraday/lib/faraday/adapter/net_http.rb:113:in `rescue in call'
/srv/warehouse/app/carriers/{carrier}.rb:58:in `request_label'
/srv/warehouse/app/jobs/print_label.rb:19:in `perform'
carrier {carrier}, order {order}
""",
        5,
    ),
    Trouble(
        "search-index",
        "shop.search.IndexProduct",
        "search-index-KeyError",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/search.py", line 88, in process
    price = document["prices"][self.locale]
            ~~~~~~~~~~~~~~~~~~^^^^^^^^^^^^^
KeyError: '{locale}'

product {product}
""",
        3,
    ),
    Trouble(
        "eu/orders",
        "shop.orders.Order",
        "eu/orders-ValueError",
        """\
Traceback (most recent call last):
  File "/srv/shop/current/shop/vat.py", line 23, in rate_for
    raise ValueError(f"no VAT rate for {{country!r}} on order {{number}}")
ValueError: no VAT rate for '{customer[country]}' on order {order}
""",
        2,
    ),
)
