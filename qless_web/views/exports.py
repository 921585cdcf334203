"""Whole lists, streamed: `?format=ndjson` or `csv`, with `?data=1` the data of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, request

from qless_core import reads
from qless_core.reads import Slice
from qless_core.reads.stretch import Source
from qless_web.console import current
from qless_web.exporting import Export, queue_sources
from qless_web.presenters import export

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

blueprint = Blueprint("exports", __name__)

#: Queues or workers that are read at once.
_ROWS = 200


@blueprint.get("/export/queues/<name:queue>/<state>")
def queue(queue: str, state: str) -> Response:
    """Export the jobs of a queue in a state, or its recurring jobs."""
    try:
        sources = queue_sources(current().client, queue, state, current().now)
    except KeyError:
        abort(404, f"A queue has no list of jobs “{state}”.")
    return _jobs(sources, ("queue", queue, state), recurs=state == "recurring")


@blueprint.get("/export/failed/<name:group>")
def group(group: str) -> Response:
    """Export the failed jobs of a group, the oldest failure first."""
    source = Source(key=current().client.keys.failed(group), is_list=True)
    return _jobs((source,), ("failed", group))


@blueprint.get("/export/tags/<name:tag>")
def tag(tag: str) -> Response:
    """Export the jobs that have a tag."""
    return _jobs((Source(key=current().client.keys.tag(tag)),), ("tag", tag))


@blueprint.get("/export/<kind>")
def everywhere(kind: str) -> Response:
    """Export completed, tracked, failed, scheduled or recurring jobs, queues or workers."""
    match kind:
        case "completed" | "tracked":
            key = getattr(current().client.keys, kind)
            return _jobs((Source(key=key, falling=True),), (kind,))
        case "failed":
            return _jobs(_of_all_groups(), (kind,))
        case "scheduled" | "recurring":
            return _jobs(_of_all_queues(kind), (kind,), recurs=kind == "recurring")
        case "queues" | "workers":
            columns = export.QUEUE if kind == "queues" else export.WORKER
            return _answer(_export().rows(_pages(kind), columns), (kind,))
    return abort(404, f"There is no list “{kind}” to export.")


def _of_all_groups() -> Iterable[Source]:
    keys, groups = current().client.keys, current().read(reads.failure_counts())
    return (Source(key=keys.failed(each), is_list=True) for each in groups)


def _of_all_queues(state: str) -> Iterable[Source]:
    here = current()
    names, now = here.read(reads.queue_names()), here.now
    return (each for name in names for each in queue_sources(here.client, name, state, now))


def _pages(kind: str) -> Iterator[Sequence[object]]:
    here = current()
    plan = reads.queue_counts if kind == "queues" else reads.workers
    client, now = here.client, here.now

    def pages() -> Iterator[Sequence[object]]:
        offset = 0
        while True:
            part = Slice(offset, _ROWS)
            _, (found,) = reads.run(client.redis, client.keys, (plan(part),), now=now)
            yield found.rows
            offset += _ROWS
            if len(found.rows) < _ROWS:
                return

    return pages()


def _export() -> Export:
    here = current()
    kind = request.args.get("format", "ndjson")
    if kind not in export.FORMATS:
        abort(400, f"“{kind[:40]}” is no format: it must be {' or '.join(export.FORMATS)}.")
    return Export(
        client=here.client,
        extensions=here.extensions,
        now=here.now,
        kind=kind,
        with_data=request.args.get("data") == "1",
    )


def _jobs(sources: Iterable[Source], name: Sequence[str], *, recurs: bool = False) -> Response:
    columns = export.RECURRING if recurs else export.JOB
    return _answer(_export().jobs(sources, columns), name)


def _answer(stream: Iterator[bytes], name: Sequence[str]) -> Response:
    kind = request.args.get("format", "ndjson")
    file = export.filename(("qless", *name), kind)
    headers = {
        "Content-Disposition": f'attachment; filename="{file}"',
        # nginx would hold it back until it has a few kilobytes.
        "X-Accel-Buffering": "no",
    }
    if request.method == "HEAD":
        stream = iter(())
    return Response(stream, content_type=export.FORMATS[kind], headers=headers)
