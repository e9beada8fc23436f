"""Damaged archive files: intact records are found, damaged bytes become a filler of the same length."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from fastwarc import ArchiveIterator
from isal import isal_zlib

from periplus.errors import DamagedFile
from periplus.store.archive.archive_scan import Damage, Intact, fill, scan
from periplus.store.archive.warc_files import ArchiveWriter
from store.records import a_response

PAGES = 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    writer = ArchiveWriter(tmp_path, "w00-000001.warc.gz", 0)
    for number in range(PAGES):
        writer.append(a_response(url=f"http://a.test/{number}", body=random.Random(number).randbytes(2_000)))
    writer.sync(writer.cut())
    writer.close()
    return tmp_path / "w00-000001.warc.gz"


def urls(path: Path) -> list[str]:
    return [part.record.response.url for part in scan(path) if isinstance(part, Intact) and part.record is not None]


def damages(path: Path) -> list[Damage]:
    return [part for part in scan(path) if isinstance(part, Damage)]


def test_the_parts_cover_the_whole_file_in_order(path: Path) -> None:
    parts = list(scan(path))
    assert [part.start for part in parts] == [0, *(part.end for part in parts[:-1])]
    assert parts[-1].end == path.stat().st_size
    assert len(urls(path)) == PAGES


@pytest.mark.parametrize("seed", range(10))
def test_a_flipped_bit_costs_one_record_and_every_tool_reads_the_rest(path: Path, seed: int) -> None:
    lot = random.Random(seed)
    data = bytearray(path.read_bytes())
    data[lot.randrange(len(data))] ^= 1 << lot.randrange(8)
    path.write_bytes(data)
    size, found = path.stat().st_size, damages(path)
    assert len(found) <= 1
    for damage in found:
        fill(path, damage)
    assert path.stat().st_size == size
    assert not damages(path)
    assert len(urls(path)) >= PAGES - 1
    assert gzip.decompress(path.read_bytes())
    with path.open("rb") as file:
        assert sum(1 for _ in ArchiveIterator(file)) == 1 + 2 * PAGES


def test_a_file_that_ends_within_a_record_is_damaged_at_the_end(path: Path) -> None:
    whole = list(scan(path))
    path.write_bytes(path.read_bytes()[:-10])
    assert damages(path) == [Damage(whole[-1].start, whole[-1].end - 10)]


def test_a_payload_that_does_not_match_its_digest_is_damage(path: Path) -> None:
    """The bytes were damaged before they were compressed, so the checksum of the gzip member is right."""
    part = list(scan(path))[-1]
    content = bytearray(gzip.decompress(path.read_bytes()[part.start : part.end]))
    content[-100] ^= 1
    path.write_bytes(path.read_bytes()[: part.start] + isal_zlib.compress(bytes(content), 1, 31))
    assert [damage.start for damage in damages(path)] == [part.start]


def test_gzip_members_that_are_no_records_are_damage(path: Path) -> None:
    path.write_bytes(gzip.compress(b"hello") + path.read_bytes())
    assert [damage.start for damage in damages(path)] == [0]


def test_damage_shorter_than_a_filler_is_refused(path: Path) -> None:
    with pytest.raises(DamagedFile, match="too few"):
        fill(path, Damage(0, 20))


def test_an_empty_file_has_no_parts(path: Path) -> None:
    path.write_bytes(b"")
    assert not list(scan(path))
