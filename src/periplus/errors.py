"""What can go wrong, and what is the reader told?

Every error that a person may meet is one of these; anything else is a bug and shows a traceback only with ``--debug``.

    PeriplusError                 exit 1   the work failed
    ├── UsageError                exit 2   the request makes no sense as it stands
    │   ├── BadUrl                         not an address that can be crawled
    │   └── ConfigError                    a setting is unknown or has a wrong value
    ├── CollectionError           exit 1   the folder cannot be used as a collection
    │   ├── NoCollection                   there is none
    │   ├── NewerFormat                    made by a later release
    │   ├── CollectionLocked               another process is crawling it
    │   ├── DamagedFile                    a file does not hold what it should
    │   └── NoIndex                        it has not been indexed yet
    ├── PortTaken                 exit 1   another program listens there
    ├── WorkerDied                exit 1   a process of the crawl was killed
    ├── NothingToCrawl            exit 1   every seed was refused or unreachable
    ├── PartialFailure            exit 3   some of the work is done and kept, the rest is not
    │   └── DiskFull                       the disk has no room left
    └── Interrupted               exit 130 stopped by the user
"""

# ruff: noqa: N818  # the names say what happened; that it is an error is said by the base class

from __future__ import annotations


class PeriplusError(Exception):
    """One line for the person reading it: what happened, why, and what to do about it."""

    exit_code = 1

    def __init__(self, what: str, why: str = "", hint: str = "") -> None:
        self.what, self.why, self.hint = what, why, hint
        super().__init__(str(self))

    def __str__(self) -> str:
        sentence = _one_line(f"{self.what}: {self.why}" if self.why else self.what)
        return f"{sentence.rstrip('.')}. {_one_line(self.hint)}" if self.hint else sentence


def _one_line(text: str) -> str:
    """The reasons that libraries give may have several."""
    return " ".join(line.strip() for line in text.splitlines() if line.strip())


class UsageError(PeriplusError):
    """The request makes no sense as it stands; nothing was done."""

    exit_code = 2


class BadUrl(UsageError):
    """Not an address that can be crawled."""


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
    """A file of the collection does not hold what it should."""


class NoIndex(CollectionError):
    """The collection has no index to search yet."""


class PortTaken(PeriplusError):
    """Another program listens where the site was to be served."""


class WorkerDied(PeriplusError):
    """A process of the crawl was killed."""


class NothingToCrawl(PeriplusError):
    """Every seed was refused or unreachable."""


class PartialFailure(PeriplusError):
    """Some of the work is done and kept, the rest is not."""

    exit_code = 3


class DiskFull(PartialFailure):
    """The disk has no room left; what was acknowledged is safe."""


class Interrupted(PeriplusError):
    """The user stopped the work before it was done."""

    exit_code = 130
