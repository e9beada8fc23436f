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
    │   ├── DatabaseUnavailable            the database of the fleet does not answer
    │   ├── LeaseLost                      another worker owns the hosts of this one
    │   ├── NoIndex                        there is no index yet
    │   └── ShardsUnavailable              no shard, or not the one with the page, has answered
    ├── StorageError              exit 1   the object store cannot be used
    │   ├── StorageUnavailable             it does not answer, or refuses
    │   │   └── BucketMissing              it has no such bucket
    │   ├── ObjectMissing                  it has no object of a name
    │   └── ObjectChanged                  another process has replaced an object
    ├── SparkFailure              exit 1   Spark cannot be started, or a job of it failed
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


class DatabaseUnavailable(CollectionError):
    """The database of the fleet does not answer."""

    usual_hint = "Start the server, or correct `fleet.database`, and run the same command again."


class LeaseLost(CollectionError):
    """Another worker of the fleet owns the hosts of this one; nothing more of it may be written."""

    usual_hint = "Nothing acknowledged is lost; the worker starts anew."


class NoIndex(CollectionError):
    """The collection has no index yet."""


class ShardsUnavailable(CollectionError):
    """No shard of the index has answered, or not the one that has the page."""

    usual_hint = "Try again in a moment."


class StorageError(PeriplusError):
    """The object store cannot be used."""


class StorageUnavailable(StorageError):
    """The object store does not answer, or refuses."""


class BucketMissing(StorageUnavailable):
    """The object store answers, and has no such bucket."""


class ObjectMissing(StorageError):
    """The object store has no object of that name."""


class ObjectChanged(StorageError):
    """Another process has replaced an object since it was read."""


class SparkFailure(PeriplusError):
    """Spark cannot be started or reached, or one of its jobs failed."""


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
