"""Names and deletes the temporary objects of jobs: `scratch/<kind>-<random>/...`."""

from __future__ import annotations

import time
from uuid import uuid4

from periplus.store.objects.object_store import ObjectStore

SCRATCH = "scratch"
_ABANDONED_SECONDS = 7 * 24 * 3600.0  # age at which the objects of a killed job are deleted; longer than any job


def new_job(kind: str) -> str:
    """A name that no other job has."""
    return f"{kind}-{uuid4().hex}"


def remove_scratch(store: ObjectStore, job: str) -> None:
    """Delete the objects of a job, and those of jobs that were killed long ago."""
    own, before = f"{SCRATCH}/{job}/", time.time() - _ABANDONED_SECONDS
    store.delete([one.name for one in store.list(SCRATCH) if one.name.startswith(own) or one.changed < before])
