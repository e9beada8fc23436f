"""Under which worker number does a node write imported pages?

On one machine it is `IMPORTS`. In a fleet every node has a number of its own, because the files of all nodes are in one
object store. It is the number of a worker without a lease. What an interrupted import did not upload is uploaded by the
next crawl or import on its node; when the node is lost, it is given up like the files of other workers.
"""

from __future__ import annotations

from contextlib import closing

from periplus.store.archive.warc_files import IMPORTS
from periplus.store.catalog.open_catalog import open_database
from periplus.store.collection import Collection, folder_id

_NUMBER = -1  # among the workers of a node


def import_worker(collection: Collection) -> int:
    """The worker number of imported pages; a node of a fleet gets its number with its first import."""
    if not collection.uploads_files:
        return IMPORTS
    with closing(open_database(collection, create=True)) as database, database.transaction():
        worker, token = database.row("join_worker", folder_id(collection), collection.node, _NUMBER)
        database.run("begin_import", worker, token)
    return int(worker)


def import_workers(collection: Collection) -> set[int]:
    """The worker numbers that this folder may have imported pages of."""
    if not collection.uploads_files:
        return {IMPORTS}
    with closing(open_database(collection, read_only=True)) as database:
        rows = database.rows("workers_of_folder", folder_id(collection))
        return {IMPORTS, *(worker for worker, number in rows if number == _NUMBER)}
