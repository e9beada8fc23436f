"""Changes all URLs of one host at once, when the user blocks, unblocks or retries it.

Each function runs inside a transaction of the caller and returns the changes of the counters. It may run again: the
process that gives a command runs it at once, and the worker that owns the host runs it with its next commit, because
the worker may then store URLs that it had in memory.
"""

from __future__ import annotations

import time
from collections import Counter

from periplus.model import Reason
from periplus.store.database.database import Database

_UNKNOWN_DELAY = 10.0  # seconds between requests to a host without a stored delay, after its errors are forgotten


def apply_block(database: Database, host: str) -> Counter[str]:
    """Refuse the queued URLs of a blocked host; queue the refused ones again when the host is not blocked."""
    if database.row("is_blocked", host) is not None:
        return refuse_queue(database, host, Reason.BLOCKED, f"{host} is blocked")
    return requeue_reason(database, host, Reason.BLOCKED)


def refuse_queue(database: Database, host: str, reason: Reason, detail: str) -> Counter[str]:
    """Refuse all queued URLs of a host."""
    number = database.run("refuse_queue", reason, detail, time.time(), host).rowcount
    return Counter(refused=number, queued=-number)


def requeue_reason(database: Database, host: str, reason: Reason) -> Counter[str]:
    """Queue the URLs of a host again that were refused for a reason."""
    number = database.run("requeue_reason", time.time(), host, reason).rowcount
    return Counter(queued=number, refused=-number)


def retry_host(database: Database, host: str) -> Counter[str]:
    """Queue the failed URLs of a host again, and forget its errors."""
    number = database.run("requeue_failed", time.time(), host).rowcount
    database.run("retry_queue", host)
    clear_failures(database, host)
    return Counter(queued=number, failed=-number)


def clear_failures(database: Database, host: str) -> None:
    """Forget the errors and the backoff of a host; its usual delay still passes before the next request."""
    database.run("clear_failures", time.time(), _UNKNOWN_DELAY, host)
