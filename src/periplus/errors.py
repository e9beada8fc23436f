"""Defines every error that a user may see, with its exit code.

Any other exception is a bug, and shows a traceback only with ``--debug``.

    PeriplusError                 exit 1   the command failed
    ├── UsageError                exit 2   the command line or a setting is wrong
    │   ├── BadUrl                         not a URL that can be crawled
    │   └── ConfigError                    a setting is unknown or has a wrong value
    ├── CollectionError           exit 1   the folder cannot be used as a collection
    │   ├── NoCollection                   there is no collection
    │   ├── NewerFormat                    written by a later release
    │   ├── CollectionLocked               another process is writing it
    │   ├── DamagedFile                    a file is damaged
    │   └── NoIndex                        there is no index yet
    ├── PortTaken                 exit 1   the port is in use
    ├── WorkerDied                exit 1   a worker process was killed
    ├── NothingToCrawl            exit 1   every seed was refused or unreachable
    ├── PartialFailure            exit 3   part of the work is done and kept
    │   └── DiskFull                       the disk is full
    └── Interrupted               exit 130 stopped by the user
"""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

from __future__ import annotations


class PeriplusError(Exception):
    """An error with a message of one line: what happened, why, and what to do."""

    exit_code = 1
    usual_hint = ""

    def __init__(self, what: str, why: str = "", hint: str | None = None) -> None:
        self.what, self.why, self.hint = what, why, self.usual_hint if hint is None else hint
        super().__init__(str(self))

    @property
    def sentence(self) -> str:
        """What happened and why, without the hint."""
        return _one_line(f"{self.what}: {self.why}" if self.why else self.what)

    def __str__(self) -> str:
        return f"{self.sentence.rstrip('.')}. {_one_line(self.hint)}" if self.hint else self.sentence


def _one_line(text: str) -> str:
    """Join the lines of a message; those of libraries may have several."""
    return " ".join(line.strip() for line in text.splitlines() if line.strip())


class UsageError(PeriplusError):
    """The command line or a setting is wrong; nothing was done."""

    exit_code = 2


class BadUrl(UsageError):
    """Not a URL that can be crawled."""


class ConfigError(UsageError):
    """A setting is unknown or has a wrong value."""


class CollectionError(PeriplusError):
    """The folder cannot be used as a collection."""


class NoCollection(CollectionError):
    """There is no collection in the folder."""


class NewerFormat(CollectionError):
    """The collection was written by a later release."""


class CollectionLocked(CollectionError):
    """Another process is writing the collection."""


class DamagedFile(CollectionError):
    """A file of the collection is damaged."""

    usual_hint = "Run `periplus repair`."


class NoIndex(CollectionError):
    """The collection has no index yet."""


class PortTaken(PeriplusError):
    """Another program uses the port of the site."""


class WorkerDied(PeriplusError):
    """A worker process of the crawl was killed."""


class NothingToCrawl(PeriplusError):
    """Every seed was refused or unreachable."""


class PartialFailure(PeriplusError):
    """Part of the work is done and kept; the rest is not done."""

    exit_code = 3


class DiskFull(PartialFailure):
    """The disk is full; acknowledged pages are safe."""


class Interrupted(PeriplusError):
    """The user stopped the work before it was done."""

    exit_code = 130
