"""What is a worker told, and what does it tell in the end?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from periplus.config import Settings
from periplus.crawl.agenda import Agenda
from periplus.crawl.budget import Budget
from periplus.crawl.clock import Clock
from periplus.fetch.ip_limits import AddressTable
from periplus.model import Decision
from periplus.store.collection import Collection


@dataclass(frozen=True, slots=True)
class Assignment:
    """What all workers of a run are told."""

    collection: Collection
    settings: Settings
    run_id: int
    started: float
    seeds: Sequence[str]
    sitemaps: Sequence[str]
    entries: Sequence[str]
    hold: bool  # what is found waits for the next round
    budget: Budget
    after_kill: bool  # the run before may have sent requests that it could not write down
    agenda: Agenda
    clock: Clock
    addresses: AddressTable  # what all of them together ask of every address
    died: int = 0  # workers of the same number so far, in whose place this one is
    suspects: Mapping[str, int] = field(default_factory=dict)  # how many workers died while reading an address


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker says when it is done."""

    ending: Ending
    summary: dict[str, Any]
    refusals: dict[str, Decision]  # of seeds
