"""Archive records are overwritten in place; a half written filler is finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.forget.archives import erase_in_file
from periplus.store.archive.archive_scan import Damage, Intact, scan
from periplus.store.archive.warc_files import ArchiveWriter, responses
from periplus.store.block_list import BlockList, new_block_list
from store.records import a_response

URLS = [f"http://a.test/{number}" for number in range(5)]
FORGOTTEN = URLS[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    writer = ArchiveWriter(tmp_path, "w00-000001.warc.gz", 0)
    for url in URLS:
        writer.append(a_response(url=url, body=f"<p>{url} says {url * 20}".encode()))
    writer.sync(writer.cut())
    writer.close()
    return tmp_path / "w00-000001.warc.gz"


@pytest.fixture
def blocked() -> BlockList:
    blocked = new_block_list()
    return blocked.extended(blocked.url_entry(FORGOTTEN))


def offsets(path: Path) -> dict[str, tuple[int, int]]:
    found = responses(path.parent, path.name, 0, path.stat().st_size)
    return {record.response.url: (record.position.offset, record.position.length) for record in found}


def test_only_the_forgotten_record_and_its_request_go_and_offsets_stay(path: Path, blocked: BlockList) -> None:
    before, size = offsets(path), path.stat().st_size
    assert erase_in_file(path, {}, blocked) == 1
    assert offsets(path) == {url: place for url, place in before.items() if url != FORGOTTEN}
    assert path.stat().st_size == size
    assert all(isinstance(part, Intact) and part.target != FORGOTTEN for part in scan(path))
    assert erase_in_file(path, {}, blocked) == 0


def test_a_record_that_is_needed_stays(path: Path, blocked: BlockList) -> None:
    before = path.read_bytes()
    start, _ = offsets(path)[FORGOTTEN]
    assert erase_in_file(path, {}, blocked, {start}) == 0
    assert path.read_bytes() == before


def test_a_record_goes_by_its_offset_too(path: Path) -> None:
    start, length = offsets(path)[URLS[1]]
    assert erase_in_file(path, {start: length}, new_block_list()) == 1
    assert URLS[1] not in offsets(path)
    assert len(offsets(path)) == len(URLS) - 1


@pytest.mark.parametrize("is_listed", [True, False])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.99])
def test_a_half_written_filler_is_finished(path: Path, blocked: BlockList, share: float, is_listed: bool) -> None:
    before, places = path.read_bytes(), offsets(path)
    erase_in_file(path, {}, blocked)
    after = path.read_bytes()
    changed = [at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    torn = changed[0] + max(int((changed[-1] + 1 - changed[0]) * share), 12)
    path.write_bytes(after[:torn] + before[torn:])
    start, length = places[FORGOTTEN]
    erase_in_file(path, {start: length} if is_listed else {}, blocked)
    assert not [part for part in scan(path) if isinstance(part, Damage)]
    assert FORGOTTEN.encode() not in b"".join(part.target.encode() for part in scan(path) if isinstance(part, Intact))
    assert offsets(path) == {url: place for url, place in places.items() if url != FORGOTTEN}


def test_a_damaged_record_is_erased_without_its_neighbours(path: Path, blocked: BlockList) -> None:
    (start, length), data = offsets(path)[FORGOTTEN], bytearray(path.read_bytes())
    data[start + length // 2] ^= 1
    path.write_bytes(data)
    assert erase_in_file(path, {start: length}, blocked) == 1
    assert len(offsets(path)) == len(URLS) - 1
