"""What the shop's operators did before anybody looked: something to read about, and to undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qless_core.reads.plan import run
from qless_web import saved_views, trail
from qless_web.operations import at_once
from qless_web.operations.freezing import Asked
from qless_web.operations.options import Options
from qless_web.saved_views import SavedView
from qless_web.triage import deploys
from qless_web.triage.deploys import Deploy

if TYPE_CHECKING:
    from qless_core.client import Client

#: For how many seconds what was cancelled can come back, and bytes that are kept of it.
_KEEPING: Final = at_once.Keeping(86_400, 16_000_000)
#: How long records of what was changed are kept, in days, and how many.
_DAYS, _RECORDS = 90, 100_000
#: Jobs that were dealt with, of each group.
_DEALT_WITH: Final = 3
#: What was deployed, and how many seconds ago.
_DEPLOY: Final = ("shop 4.12", 2_700)

_VIEWS: Final = (
    SavedView("Failed orders of VIPs", "/search?q=state:failed+tag:vip"),
    SavedView("Longest waits", "/queues?sort=oldest"),
)


def work(client: Client) -> None:
    """Deal with some failed jobs, mark a deploy, and save views, in a shop that was planted.

    Raises:
        QlessError: Redis is gone, or refused.

    """
    name, ago = _DEPLOY
    deploys.mark(client, Deploy(name, client.now() - ago, "kim"))
    for view in _VIEWS:
        run(client.redis, client.keys, [saved_views.keep(view)])
    # The oldest: of the newest is told what goes on now.
    _deal(client, "retry", "payments-ReadTimeout", Asked(who="dana", note="the bank is back"))
    _deal(client, "cancel", "thumbnails-BrokenUpload", Asked(who="kim", note="taken anew"))


def _deal(client: Client, action: str, group: str, asked: Asked) -> None:
    """Do something to the oldest jobs of a group, and note it, as the console does."""
    total = client.failures.groups.get(group, 0)
    oldest = client.failures.jobs(group, max(0, total - _DEALT_WITH), _DEALT_WITH).jobs
    wanted = [(job.jid, "failed") for job in oldest]
    done = at_once.act(
        client, action, wanted, group=group, options=Options(), asked=asked, keeping=_KEEPING
    )
    entry = trail.Entry(
        action=f"{action}_jobs",
        who=asked.who,
        on={"group": group},
        counts={"done": len(done.report.done)},
        note=asked.note,
    )
    trail.write(client, entry, days=_DAYS, most=_RECORDS)
