"""What happened since the last commit?"""

from __future__ import annotations

from dataclasses import dataclass

from periplus.store.batch import Batch
from periplus.store.manifest import PageRow


@dataclass(frozen=True, slots=True)
class Log:
    """Everything between two cuts: what one commit acknowledges."""

    batch: Batch
    rows: list[PageRow]


class Logbook:
    """Written by all parts of a worker, cut by its commits."""

    def __init__(self) -> None:
        self.batch = Batch()
        self.rows: list[PageRow] = []
        self.cuts = 0

    def cut(self) -> Log:
        """Everything since the last cut."""
        log = Log(self.batch, self.rows)
        self.batch, self.rows = Batch(), []
        self.cuts += 1
        return log
