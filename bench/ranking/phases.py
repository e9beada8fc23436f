"""Measures the CPU time and peak memory of each step of this process."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from pathlib import Path


class Phases:
    """CPU seconds and peak memory by step, as long as the block runs; `enter` begins a step."""

    def __init__(self) -> None:
        self.cpu: defaultdict[str, float] = defaultdict(float)
        self.peak_mb: dict[str, int] = {}
        self._step, self._since = "start", time.process_time()
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample)

    def __enter__(self) -> Phases:
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.enter("end")
        self._over.set()
        self._sampler.join()

    def enter(self, step: str) -> None:
        self._weigh()
        now = time.process_time()
        self.cpu[self._step] += now - self._since
        self._step, self._since = step, now

    def _sample(self) -> None:
        while not self._over.wait(0.05):
            self._weigh()

    def _weigh(self) -> None:
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        self.peak_mb[self._step] = max(self.peak_mb.get(self._step, 0), round(resident / 1e6))
