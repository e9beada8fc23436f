"""Which archive records of a URL are beyond the limits?

A version is a response and the revisit records that confirm it; they stay or go together. The newest version always
stays. Responses that are not pages (redirects, errors, sitemaps) are counted by themselves in the same way.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from periplus.store.catalog.prune_catalog import ArchivedFetch

_DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the history of a URL stays."""

    versions: int  # 0: all
    since: float | None  # versions that were last seen before this time go; None: none of them
    referred: Container[bytes] = frozenset()  # contents that always stay

    @classmethod
    def of(cls, versions: int, days: float, now: float, referred: Container[bytes]) -> Limits:
        """The limits that the settings mean at a time."""
        return cls(versions, now - days * _DAY if days else None, referred)

    def __bool__(self) -> bool:
        return bool(self.versions) or self.since is not None


Version = list[ArchivedFetch]  # a response, and the revisit records that refer to it


def surplus(records: Sequence[ArchivedFetch], limits: Limits) -> Iterator[Version]:
    """The versions of one URL that are beyond the limits."""
    versions = _versions(records)
    for is_page in (True, False):
        yield from _beyond([version for version in versions if version[0].is_page is is_page], limits)


def _versions(records: Sequence[ArchivedFetch]) -> list[Version]:
    """The responses, each with its revisit records."""
    versions: list[Version] = []
    newest: dict[bytes, Version] = {}  # by content
    for record in records:
        version = newest.get(record.content_id) if record.is_confirmation else None
        if version is None:
            version = []
            versions.append(version)
            newest[record.content_id] = version
        version.append(record)
    return versions


def _beyond(versions: Sequence[Version], limits: Limits) -> Iterator[Version]:
    """The versions that are too many or too old; never the newest one, by its date or by the order of the fetches."""
    by_date = sorted(versions, key=lambda version: version[0].at)
    for newer, version in enumerate(reversed(by_date)):
        is_too_much = bool(limits.versions) and newer >= limits.versions
        is_too_old = limits.since is not None and max(record.at for record in version) < limits.since
        is_needed = newer == 0 or version is versions[-1] or version[0].content_id in limits.referred
        if (is_too_much or is_too_old) and not is_needed:
            yield version
