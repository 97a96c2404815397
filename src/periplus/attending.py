"""A node that crawls no more and answers searches of what it has: `periplus node NAME --answer`."""

import asyncio
import signal

import typer

from periplus import __version__
from periplus.cluster.control import read_crawl, read_nodes
from periplus.cluster.members import this_machine
from periplus.cluster.records import PROTOCOL, CrawlRecord
from periplus.clustering import job_text, on_board
from periplus.errors import NotACrawl
from periplus.job import Prepared
from periplus.search.answering import AnswerDesk
from periplus.search.collection import Collection
from periplus.store.folder import NodeFolder

__all__ = ["answer_from"]


def answer_from(prepared: Prepared, name: str) -> None:
    """Answer questions about a node, and about those that this machine took over, until interrupted."""
    here = {node.name: node for node in prepared.folder.nodes()}
    if name not in here:
        raise NotACrawl(f"{prepared.folder.path}: node {name} has crawled nothing here; run it without --answer first")
    Collection.open([prepared.folder.path]).close()  # brings the indexes up to date
    asyncio.run(_attend(prepared, name, here))


async def _attend(prepared: Prepared, name: str, here: dict[str, NodeFolder]) -> None:
    async with on_board(prepared.job.cluster, prepared.job.name, new=True) as (client, board, key):
        if await read_crawl(board, __version__) is None:  # the servers have forgotten it, the folder has not
            known = CrawlRecord(PROTOCOL, __version__, job_text(prepared), prepared.nodes, "ended", "crawled before")
            await board.create("crawl", known)
        records = await read_nodes(board, here)
        folder, machine = str(prepared.folder.path.absolute()), this_machine()
        ours = {node for node, record in records.items() if (record.machine, record.folder) == (machine, folder)}
        leave = asyncio.Event()
        loop = asyncio.get_running_loop()
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(sign, leave.set)
        desk = AnswerDesk(client, key)
        try:
            for node in sorted({name, *ours}):
                await desk.add(here[node])
            typer.echo(f"{', '.join(sorted({name, *ours}))}: answering searches — end with Ctrl-C", err=True)
            await leave.wait()
        finally:
            await desk.close()
