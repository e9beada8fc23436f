from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from periplus.archives.warc_reader import CompressedFile

PARTS = [random.Random(number).randbytes(3_000).hex().encode() + b"\n" for number in range(30)]


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])])
def test_a_compressed_file_gives_the_same_stream(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = b"".join(PARTS)
    with CompressedFile(_file(tmp_path, pack(whole))) as source:
        assert source.line(1 << 20) == PARTS[0]
        assert source.line(10) == PARTS[1][:10]
        assert source.read(90) == PARTS[1][10:100]
        assert source.skip(50) == 50
        assert source.position == len(PARTS[0]) + 150
        assert source.read(1 << 30) == whole[len(PARTS[0]) + 150 :]
        assert (source.line(9), source.read(9), source.skip(9), source.damages) == (b"", b"", 0, 0)


def test_zeros_between_members_are_skipped(tmp_path: Path) -> None:
    with CompressedFile(_file(tmp_path, gzip.compress(b"one") + b"\0" * 100 + gzip.compress(b"two"))) as source:
        assert source.read(100) == b"onetwo"


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_member_does_not_affect_the_others(tmp_path: Path, seed: int) -> None:
    members = [gzip.compress(part) for part in PARTS]
    chooser = random.Random(seed)
    victim = chooser.randrange(len(members))
    member = bytearray(members[victim])
    for _ in range(5):
        member[chooser.randrange(12, len(member))] ^= 0xFF
    members[victim] = bytes(member)
    with CompressedFile(_file(tmp_path, b"".join(members))) as source:
        found = source.read(1 << 30)
        assert source.damages >= 1
    assert all(part in found for number, part in enumerate(PARTS) if number != victim)


def test_a_truncated_file_is_damaged_at_its_end(tmp_path: Path) -> None:
    with CompressedFile(_file(tmp_path, gzip.compress(b"x" * 1_000)[:-12])) as source:
        source.read(10_000)
        assert source.damages == 1


def test_a_bomb_is_skipped_in_bounded_memory(tmp_path: Path) -> None:
    with CompressedFile(_file(tmp_path, gzip.compress(bytes(200 << 20), 1))) as source:
        assert source.skip(1 << 40) == 200 << 20
        assert len(source._buffer) < 4 << 20
