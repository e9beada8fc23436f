from __future__ import annotations

import gzip
import lzma
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from periplus.archives.warc_reader import BrokenRecord, WarcRecord, read_records, response_of
from shared_data import shared
from store.warcs import HEAD, MOMENT, arc, packed, page, warc


def _records(folder: Path, content: bytes) -> list[WarcRecord | BrokenRecord]:
    path = folder / "file"
    path.write_bytes(content)
    return list(read_records(path))


def _plain(*records: bytes) -> bytes:
    return b"".join(records)


def _as_a_whole(*records: bytes) -> bytes:
    return gzip.compress(b"".join(records))


def _good(folder: Path, content: bytes) -> list[WarcRecord]:
    return [record for record in _records(folder, content) if isinstance(record, WarcRecord)]


@pytest.mark.parametrize("pack", [_plain, packed, _as_a_whole])
def test_warc_is_read_compressed_by_record_or_as_a_whole_or_not(tmp_path: Path, pack: Callable[..., bytes]) -> None:
    found = _records(tmp_path, pack(page("one"), page("two", "http://example.org/two")))
    assert [record.url for record in found if isinstance(record, WarcRecord)] == [
        "http://example.org/",
        "http://example.org/two",
    ]
    first = found[0]
    assert isinstance(first, WarcRecord)
    assert (first.kind, first.at, first.mime) == ("response", MOMENT, "application/http; msgtype=response")
    assert first.block.startswith(HEAD)


@pytest.mark.parametrize("pack", [_plain, packed])
def test_arc_is_read_compressed_or_not(tmp_path: Path, pack: Callable[..., bytes]) -> None:
    head = arc(b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n", "filedesc://x", "text/plain")
    answer = arc(HEAD + b"\r\nhello", "http://example.org/a page with spaces")
    dns = arc(b"20240517\nexample.org. A 192.0.2.1", "dns:example.org", "text/dns")
    found = _good(tmp_path, pack(head, answer, dns))
    assert [record.kind for record in found] == ["warcinfo", "response", "resource"]
    assert (found[1].url, found[1].at, found[1].ip) == ("http://example.org/a page with spaces", MOMENT, "192.0.2.1")
    assert found[1].block.endswith(b"hello")


def test_the_second_version_of_arc_is_read(tmp_path: Path) -> None:
    block = HEAD + b"\r\nhello"
    line = f"http://example.org/ 192.0.2.1 20240517093000 text/html 200 ABC - 1234 file.arc {len(block)}\n"
    assert [record.block for record in _good(tmp_path, line.encode() + block + b"\n")] == [block]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b"garbage\nand more\n\n", "no record starts here"),
        (warc(b"x", length=-1), "no valid Content-Length"),
        (warc(b"x").replace(b"Content-Length: 1", b"Content-Length: many"), "no valid Content-Length"),
        (b"http://example.org/ 192.0.2.1 20240517093000 text/html -1\n\n", "no record starts here"),
    ],
)
def test_a_broken_record_is_reported_and_the_next_one_read(tmp_path: Path, broken: bytes, why: str) -> None:
    found = _records(tmp_path, page("one") + broken + page("two"))
    assert [record.why for record in found if isinstance(record, BrokenRecord)][:1] == [why]
    assert len([record for record in found if isinstance(record, WarcRecord)]) == 2
    (first, *_) = [record for record in found if isinstance(record, BrokenRecord)]
    assert first.position == len(page("one"))


def test_a_truncated_record_is_broken(tmp_path: Path) -> None:
    found = _records(tmp_path, page("one") + page("two")[:-20])
    assert [type(record) for record in found] == [WarcRecord, BrokenRecord]


def test_a_record_in_a_damaged_member_is_broken_and_the_next_one_read(tmp_path: Path) -> None:
    middle = bytearray(packed(page("two" * 200)))
    middle[len(middle) // 2] ^= 0xFF
    found = _records(tmp_path, packed(page("one")) + bytes(middle) + packed(page("three")))
    good = [record.block for record in found if isinstance(record, WarcRecord)]
    assert len(good) == 2
    assert good[1].endswith(b"<p>three")


def test_brackets_around_a_url_are_removed(tmp_path: Path) -> None:
    assert _good(tmp_path, warc(b"x", url="<http://example.org/wget>"))[0].url == "http://example.org/wget"


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    assert _records(tmp_path, b"") == []


def _samples() -> dict[str, bytes]:
    with lzma.open(shared("warc/samples.tar.xz")) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        return {entry.name: file.read() for entry in archive if (file := archive.extractfile(entry)) is not None}


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"\x04\x22\x4d\x18", "LZ4"),
        (b"\x02\x21\x4c\x18", "LZ4"),
        (b"\xfd7zXZ\0", "XZ"),
        (b"BZh91AY", "bzip2"),
        (b"PK\x03\x04", "ZIP"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
        (b"\x28\xb5\x2f\xfd", "Zstandard"),
        (b"\x5d\x2a\x4d\x18", "Zstandard"),
    ],
)
def test_an_unsupported_compression_is_named(tmp_path: Path, start: bytes, name: str) -> None:
    with pytest.raises(OSError, match=f"compressed with {name}"):
        _records(tmp_path, start + b"x" * 100)


def test_no_record_and_no_response_of_the_samples_is_lost(tmp_path: Path) -> None:
    found = [record for content in _samples().values() for record in _records(tmp_path, content)]
    read = [record for record in found if isinstance(record, WarcRecord)]
    assert (len(read), len(found) - len(read)) == (584, 7)
    assert not any(record.date_source for record in read)
    assert sum(response_of(record, 10_000_000) is not None for record in read) == 150


def test_samples_of_other_programs_are_read(tmp_path: Path) -> None:
    samples = _samples()
    assert len(samples) == 42
    for name, content in samples.items():
        found = _records(tmp_path, content)
        kinds = {record.kind for record in found if isinstance(record, WarcRecord)}
        assert kinds & {"response", "resource", "conversion", "revisit", "metadata", "request", "warcinfo"}, name


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_mutated_archives_give_records_or_reasons(tmp_path: Path, seed: int) -> None:
    chooser = random.Random(seed)
    samples = [content for content in _samples().values() if len(content) < 30_000]
    for _ in range(500):
        content = bytearray(chooser.choice(samples))
        for _ in range(chooser.randrange(1, 8)):
            place = chooser.randrange(len(content))
            content[place : place + chooser.randrange(3)] = chooser.randbytes(chooser.randrange(4))
        for record in _records(tmp_path, bytes(content[: chooser.randrange(1, len(content) + 1)])):
            assert isinstance(record, WarcRecord) or record.why
