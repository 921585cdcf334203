"""An index of the private server, kept for as long as a test needs it."""

from __future__ import annotations

from contextlib import contextmanager

from qless_web.triage.index import Index, NoIndex
from qless_web.triage.query import parse
from qless_web.triage.searching import Search
from qless_web.triage.writer import Writer
from tests.support.polling import eventually


def index_of(client, folder):
    """Name the index of a client in a folder."""
    return Index.of(folder, client.safe_url, client.namespace)


@contextmanager
def kept(client, folder, *, rate=0):
    """Keep an index from when it is complete to the end of the block."""
    index = index_of(client, folder)
    writer = Writer(client, index, rate)
    writer.start()
    try:
        eventually(lambda: fact(index, "complete"))
        yield index
    finally:
        # Who writes closes last, and puts all into the one file.
        index.close()
        writer.close()
        writer.join(10)


def fact(index, name):
    """Give what the writer noted; None where there is no index yet."""
    try:
        with index.reading() as connection:
            found = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    except NoIndex:
        return None
    return found and found[0]


def find(index, query, now=None, *, offset=0, count=100):
    """Search an index."""
    with index.reading() as connection:
        moment = fact(index, "as_of") if now is None else now
        if moment is None:
            raise NoIndex("it is being begun")  # noqa: EM101, TRY003 - as the catalogue says
        return Search(connection, parse(query), moment).page(offset, count)


def jids(index, query, now=None):
    """Give the jids that a search finds, sorted."""
    try:
        return sorted(find(index, query, now).jids)
    except NoIndex:
        return None
