"""Checks the large files of an open generation in a thread, because reading them would delay the first search."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread

from periplus.errors import DamagedFile
from periplus.store.checksums import StoredFile


class BackgroundCheck:
    """Checks size and content of files, one after the other, until one is damaged."""

    def __init__(self, files: Sequence[StoredFile]) -> None:
        self._files = files
        self._stopped = Event()
        self.damage: DamagedFile | None = None  # set once it is found
        self._thread = Thread(target=self._check, name="checksums", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until all files are checked, or one is damaged; at most *seconds*."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Stop after the current file."""
        self._stopped.set()

    def _check(self) -> None:
        for file in self._files:
            damage = file.damage()
            if self._stopped.is_set():
                return  # a closed generation may have been removed
            if damage is not None:
                self.damage = damage
                return
