"""Is a crawl complete after any file-changing system call failed?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import strace
from crawl.crawling import environment, reach, run_crawl
from crawl.kill_checks import KillChecks
from periplus.crawl.assignment import Budget
from periplus.store.archive.warc_files import archive_name
from periplus.store.manifest import segment_name
from testweb import TestWeb, many_hosts

SEED = "http://h0001.test/"
HOSTS, PAGES = 4, 6
BEGUN = 9  # pages that an earlier run fetched
COMMIT_PAGES = 4
AT_STAKE = HOSTS + 2 * (4 * COMMIT_PAGES + HOSTS)  # as in test_kill
STORE = {"commit_seconds": 60, "commit_pages": COMMIT_PAGES, "segment_seconds": 0.02, "archive_bytes": 10_000}
SHRINKING = {"ftruncate", "truncate", "unlink"}  # need no room
FLAGS: dict[str, Any] = {f"store__{name}": value for name, value in STORE.items()}


class Stage:
    """The collection that every crawl of a test starts from, with some pages in it or none."""

    def __init__(self, folder: Path, begun: int, workers: int, pages: int = PAGES) -> None:
        strace.require()
        self.home, self._template = folder / "home", folder / "template"
        self.sites = many_hosts(HOSTS, pages)
        self.workers = workers
        self._pages = HOSTS * pages
        if begun:
            with TestWeb(self.sites) as web:
                run_crawl(web, self._template, SEED, budget=Budget(pages=begun), scope__hosts=[".*"], **FLAGS)

    @contextmanager
    def scene(self) -> Iterator[KillChecks]:
        """The web and the collection as they are before the crawl."""
        shutil.rmtree(self.home, ignore_errors=True)
        if self._template.exists():
            shutil.copytree(self._template, self.home)
        with TestWeb(self.sites) as web:
            checks = KillChecks(web, self.sites, self.home)
            checks.look(at_stake=0)
            yield checks

    def command(self, web: TestWeb) -> strace.Command:
        """The command of the crawl whose system calls fail."""
        options = ["--home", str(self.home), "--scope-host", ".*", "--workers", str(self.workers), "--json"]
        return strace.Command(["crawl", SEED, *options, *reach(web)], environment(**FLAGS))

    def events(self, paths: list[Path] | None = None) -> list[strace.Event]:
        """The system calls of an undisturbed crawl on *paths* or anywhere."""
        with self.scene() as checks:
            return strace.trace(self.command(checks.web), self.home, paths or [])

    def resume(self, checks: KillChecks) -> None:
        """Crawl to the end, and check the collection."""
        run_crawl(checks.web, self.home, *checks.seeds(SEED), scope__hosts=[".*"], **FLAGS)
        checks.look(at_stake=0)
        checks.assert_complete()

    def paths(self) -> list[Path]:
        """Every file that the crawl may write."""
        names = ["collection.json.tmp", "crawl.lock", "crawl.db", "crawl.db-wal", "crawl.db-shm", "crawl.db-journal"]
        for worker in range(self.workers):
            for number in range(1, self._pages):
                names.append(f"archive/{archive_name(worker, number)}")
                names += [f"segments/{segment_name(kind, worker, number)}.tmp" for kind in ("pages", "links")]
        return [self.home, *(self.home / name for name in ("archive", "segments", *names))]


class Disk:
    """What a power cut could lose: bytes and names that were written and not yet fsynced."""

    def __init__(self) -> None:
        self.unsafe: set[str] = set()  # files, and folders whose names are new
        self._known: set[str] = set()

    def see(self, name: str, files: list[str]) -> None:
        """Record a system call."""
        path = files[0]
        if name in {"write", "pwrite64"}:
            self.unsafe.add(path)
            if path not in self._known and not path.endswith(".tmp"):  # readers ignore those
                self._known.add(path)
                self.unsafe.add(_folder(path))
        elif name == "rename":
            assert path not in self.unsafe, f"{path} is given its name before its bytes are safe"
            self._known.add(files[1])
            self.unsafe.add(_folder(files[1]))
        elif name in {"fsync", "fdatasync"}:
            self.unsafe.discard(path)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


@pytest.mark.slow
def test_nothing_is_acknowledged_before_it_survives_a_power_cut(tmp_path: Path) -> None:
    stage = Stage(tmp_path, begun=0, workers=1)
    disk, acknowledged = Disk(), 0
    pages_written = False
    for event in stage.events():
        name, files = event.call.name, event.files
        if name == "pwrite64" and files[0] == "crawl.db-wal":
            at_risk = {path for path in disk.unsafe if path.startswith("archive") or path == "segments"}
            assert not at_risk, f"the catalog refers to {sorted(at_risk)}, which a power cut could lose"
        elif name == "fdatasync" and files[0] == "crawl.db-wal":
            acknowledged += pages_written
            pages_written = False
        elif name == "write" and files[0].startswith("archive/"):
            assert not pages_written or files[0] in disk.unsafe, "one batch follows another that is not safe yet"
            pages_written = True
        disk.see(name, files)
    assert not pages_written
    assert acknowledged >= HOSTS * PAGES // (4 * COMMIT_PAGES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begun", "workers", "points", "pages"),
    [
        pytest.param(0, 1, 14, PAGES, id="new"),
        pytest.param(BEGUN, 1, 14, PAGES, id="begun"),
        pytest.param(BEGUN, 2, 14, PAGES, id="two-workers"),
        pytest.param(0, 1, 3000, 100, id="long", marks=[pytest.mark.long]),
        pytest.param(BEGUN, 2, 3000, 100, id="long-two-workers", marks=[pytest.mark.long]),
    ],
)
def test_a_crawl_killed_at_any_write_is_complete_after_the_next_run(
    tmp_path: Path, begun: int, workers: int, points: int, pages: int
) -> None:
    stage = Stage(tmp_path, begun, workers, pages)
    ended = 0
    calls = strace.chosen(strace.calls(stage.events()), points)
    for call in calls:
        with stage.scene() as checks:
            outcome = strace.kill(stage.command(checks.web), call)
            replaced = "worker_died" in outcome.out
            given_up = outcome.code == 1 and "5 workers of the crawl died" in outcome.err  # all of them at that call
            ended += outcome.code == -9 or replaced or given_up
            assert outcome.code in {0, -9} or given_up, (call, outcome)
            checks.look(workers * AT_STAKE, workers_died=replaced or outcome.code != 0)
            stage.resume(checks)
    assert ended >= len(calls) // 2, "the calls are not where they were"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begun", "workers", "points", "pages"),
    [
        pytest.param(0, 1, 5, PAGES, id="new"),
        pytest.param(BEGUN, 1, 5, PAGES, id="begun"),
        pytest.param(BEGUN, 2, 5, PAGES, id="two-workers"),
        pytest.param(BEGUN, 1, 150, 50, id="long", marks=[pytest.mark.long]),
        pytest.param(BEGUN, 2, 150, 50, id="long-two-workers", marks=[pytest.mark.long]),
    ],
)
def test_a_disk_that_is_full_from_any_write_on_is_reported_and_loses_nothing(
    tmp_path: Path, begun: int, workers: int, points: int, pages: int
) -> None:
    stage = Stage(tmp_path, begun, workers, pages)
    growing = [event for event in stage.events(stage.paths()) if event.call.name not in SHRINKING]
    ended = 0
    calls = strace.chosen(strace.calls(growing), points)
    for call in calls:
        with stage.scene() as checks:
            outcome = strace.refuse(stage.command(checks.web), call, "ENOSPC", stage.paths())
            if outcome.code:  # SQLite may also keep everything in its log, and go on
                ended += 1
                assert outcome.code == 3, (call, outcome)
                assert "no space left to write" in outcome.complaint
                assert "free some space and run the same command again" in outcome.complaint
            checks.look(workers * AT_STAKE)
            stage.resume(checks)
    assert ended >= len(calls) // 2, "the calls are not where they were"
