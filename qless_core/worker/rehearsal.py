"""What each child is going to do, done before the fork.

What Python makes at the first use (compiled patterns, the shape of code that runs often) is made
once, by the parent, and inherited: a page of memory that a child writes has to be copied first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qless_core.job import Job
from qless_core.records import TurnReply
from qless_core.worker.performing import attempt
from qless_core.worker.slate import Slate

if TYPE_CHECKING:
    from qless_core.client import Client

#: How often: Python adapts code that has run eight times.
TIMES: Final = 16

#: What a worker is told as it takes a job.
_REPLY: Final = (
    '{"done":[],"left":{},"emptied":[],"jobs":[{"jid":"0","klass":"qless_core.worker.rehearsal.play",'
    '"state":"running","queue":"q","worker":"w","tracked":false,"priority":0,"expires":1.5,'
    '"retries":5,"remaining":5,"data":"{}","tags":[],"failure":{},"spawned_from_jid":false,'
    '"dependents":[],"dependencies":[]}],"now":1.5}'
)


def play(_: Job) -> None:
    """Do nothing, as a job."""


def rehearse(client: Client, times: int = TIMES) -> None:
    """Take, perform and note jobs that there are not; nothing is sent."""
    slate = Slate()
    for _ in range(times):
        for record in TurnReply.from_text(_REPLY).jobs:
            job = Job(client, record, worker="w", brief=True)
            slate.begin_turn()
            slate.begin(job.jid)
            attempt(job, is_taken=lambda job: job.jid in slate.taken())
            slate.done(job.unsent_data)
            slate.clear()
