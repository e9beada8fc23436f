"""Writes the log of `periplus up`: one file that all its processes append to, and that the supervisor rotates."""

from __future__ import annotations

import logging
from contextlib import suppress
from logging.handlers import WatchedFileHandler
from pathlib import Path

from periplus.errors import UsageError

_LARGEST = 10 << 20  # bytes
_EVERY_URL = "periplus.crawl.urls"  # the logger that writes a line for every URL
_KEPT = 3  # older files: up.log.1 is the newest of them


class _OneLine(logging.Formatter):
    """Escapes control characters, so that crawled text cannot forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def start_log(path: Path) -> None:
    """Begin to log to a file; children that are forked afterwards append to it as well."""
    rotate(path)
    try:
        handler = WatchedFileHandler(path, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the log file {path} cannot be written", error.strerror or str(error)) from error
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(processName)s %(message)s"))
    logger = logging.getLogger("periplus")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logging.getLogger(_EVERY_URL).setLevel(logging.WARNING)


def rotate(path: Path) -> None:
    """Rename a large log file; processes that have it open notice and begin a new one."""
    with suppress(OSError):
        if path.stat().st_size < _LARGEST:
            return
        for number in range(_KEPT - 1, 0, -1):
            with suppress(FileNotFoundError):
                path.with_name(f"{path.name}.{number}").rename(path.with_name(f"{path.name}.{number + 1}"))
        path.rename(path.with_name(f"{path.name}.1"))
