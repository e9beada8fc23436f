"""Searches the site at a steady rate, and waits for sample pages to be found after their fetch.

Whether a page is found changes with the generation of the index only, so the pages are searched once a generation.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from typing import Any
from urllib.parse import urlencode

import numpy as np

from living.made_web import MadeWeb, own_word, word
from living.web_process import WebServer

_SAMPLES = 200  # pages that are waited for
_SEED = 5
_LOOK_SECONDS = 1.0
_COMMON_WORDS = 2_000  # of the vocabulary, from which searches are made
_TIMEOUT = 10.0


class Readers:
    """Two threads: one sends searches at a steady rate, the other looks for sample pages in every generation."""

    def __init__(self, web: MadeWeb, server: WebServer, port: int, rate: float, start: int) -> None:
        self._web, self._server, self._port, self._rate, self._position = web, server, port, rate, start
        chosen = random.Random(_SEED)
        places = [(host, page) for host in range(web.hosts) for page in range(web.pages)]
        sample = chosen.sample(places, min(_SAMPLES, len(places)))
        self._words = {web.url(host, page): own_word(host, page) for host, page in sample}
        self._fetched: dict[str, float] = {}  # sample pages that are not found yet
        self._found: list[float] = []  # seconds from fetch to found
        self._times: list[float] = []  # seconds of searches
        self._errors = 0
        self._first_result = 0.0
        self.documents = self._generation = 0
        self._closed = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._search, self._look)]

    def start(self) -> None:
        """Begins to search."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends all searches."""
        self._closed.set()
        for thread in self._threads:
            thread.join()

    def figures(self, began: float) -> dict[str, Any]:
        """What was measured."""
        waiting = [time.time() - at for at in self._fetched.values()]
        ages = self._found + [age for age in waiting if age > max(self._found, default=0.0)]
        return {
            "first_result_s": round(self._first_result - began, 1) if self._first_result else -1.0,
            "freshness_p50_s": round(_percentile(self._found, 50), 1),
            "freshness_p95_s": round(_percentile(ages, 95), 1),
            "freshness_max_s": round(max(ages, default=0.0), 1),
            "found": len(self._found),
            "not_found": len(waiting),
            "searches": len(self._times),
            "search_errors": self._errors,
            "search_p50_ms": round(1e3 * _percentile(self._times, 50), 1),
            "search_p99_ms": round(1e3 * _percentile(self._times, 99), 1),
        }

    def _search(self) -> None:
        chosen, due = random.Random(_SEED), time.monotonic()
        while not self._closed.wait(max(due - time.monotonic(), 0.0)):
            due += 1 / self._rate
            if not self.documents:
                continue
            query = " ".join(word(chosen.randrange(100, _COMMON_WORDS)) for _ in range(2))
            began = time.perf_counter()
            status, _ = self._get("/api/search", q=query)
            self._times.append(time.perf_counter() - began)
            self._errors += status != 200

    def _look(self) -> None:
        while not self._closed.wait(_LOOK_SECONDS):
            requests, self._position = self._server.requests(self._position)
            self._fetched |= {url: at for at, url in requests if url in self._words}
            status, body = self._get("/healthz")
            health = json.loads(body) if status == 200 else {"generation": self._generation}
            if health["generation"] != self._generation:
                self._first_result = self._first_result or time.time()
                self._generation, self.documents = health["generation"], health["documents"]
                self._find(time.time())

    def _find(self, now: float) -> None:
        for url in list(self._fetched):
            status, body = self._get("/api/search", q=self._words[url])
            if status == 200 and json.loads(body)["total"]:
                self._found.append(now - self._fetched.pop(url))
                self._words.pop(url)

    def _get(self, path: str, **query: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT)
        try:
            connection.request("GET", f"{path}?{urlencode(query)}" if query else path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return 0, b""
        finally:
            connection.close()


def _percentile(values: list[float], share: float) -> float:
    return float(np.percentile(np.array(values), share)) if values else 0.0
