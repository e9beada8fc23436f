"""The log of `periplus up`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.live import log


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    logger = logging.getLogger("periplus")
    before, level = list(logger.handlers), logger.level
    yield tmp_path / "up.log"
    for handler in [handler for handler in logger.handlers if handler not in before]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(level)
    logging.getLogger("periplus.crawl.urls").setLevel(logging.NOTSET)


def test_a_line_of_crawled_text_cannot_forge_another(file: Path) -> None:
    log.start_log(file)
    logging.getLogger("periplus.live").info("bad\n2026-01-01 INFO forged \x1b[31m")
    assert file.read_text().count("\n") == 1
    assert "\\x1b" in file.read_text()


def test_single_urls_are_not_logged(file: Path) -> None:
    log.start_log(file)
    logging.getLogger("periplus.crawl.urls").info("fetched http://a.test/")
    logging.getLogger("periplus.crawl").info("worker 0 exited")
    assert "fetched" not in file.read_text()
    assert "worker 0 exited" in file.read_text()


def test_a_large_file_is_renamed_and_the_oldest_is_dropped(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_LARGEST", 10)
    log.start_log(file)
    for number in range(6):
        logging.getLogger("periplus.live").info("line %d", number)
        log.rotate(file)
    assert sorted(path.name for path in file.parent.iterdir()) == ["up.log.1", "up.log.2", "up.log.3"]
    assert "line 5" in file.with_name("up.log.1").read_text()
    logging.getLogger("periplus.live").info("again")
    assert "again" in file.read_text()
