"""Tags, and the jobs with one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_core import reads
from qless_web.api.entries import JOB
from qless_web.api.route import Page, Route, address, listed
from qless_web.api.states import STATE, StatePage, page_of, wanted
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads import Slice


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag, and how many jobs have it."""

    tag: str
    url: str
    count: int


@listed(
    Route(
        name="tags",
        rule="/tags",
        family="tags",
        answers=Page[Tag],
        example=Tag(tag="vip", url="/api/v1/tags/vip/jobs", count=12),
    )
)
def tags(part: Slice) -> Page[Tag]:
    """List the tags, the most used first."""
    return Page.of(current().read(reads.tags(part)), _tag)


def _tag(found: tuple[str, int]) -> Tag:
    tag, count = found
    return Tag(tag=tag, url=address("taggedJobs", tag=tag), count=count)


@listed(
    Route(
        name="taggedJobs",
        rule="/tags/<name:tag>/jobs",
        family="tags",
        answers=StatePage,
        example=JOB,
        params=(STATE,),
    )
)
def jobs(tag: str, part: Slice, state: str) -> StatePage:
    """List the jobs with a tag, those that need attention first; none where nothing has it."""
    return page_of(current().read(reads.tagged(tag, part, wanted(state))))
