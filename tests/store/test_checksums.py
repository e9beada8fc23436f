"""Files and facts with checksums are read as they were written, or refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from index.damage import WAYS, flip
from periplus.errors import DamagedFile
from periplus.store.checksums import (
    StoredFile,
    file_digest,
    has_digest,
    require_intact,
    verified,
    with_checksums,
    wrong_content,
)
from store.records import error_line

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FACTS = st.dictionaries(st.text().filter(lambda name: name != "digest"), VALUES, max_size=5)


@given(FACTS)
def test_facts_come_back_as_they_were(facts: dict[str, Any]) -> None:
    assert verified(with_checksums(facts)) == facts


def test_every_flipped_bit_is_noticed() -> None:
    content = with_checksums({"format": 1, "nodes": 1234, "files": {"ranks.npy": {"bytes": 10}}})
    for place in range(len(content)):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            with pytest.raises(ValueError, match=r"."):
                verified(bytes(damaged))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe", b'{"format": 1}'])
def test_facts_without_a_checksum_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        verified(content)


def test_facts_of_an_earlier_release_are_read_and_their_damage_is_noticed() -> None:
    facts = {"format": 1, "nodes": 1234}
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    content = json.dumps({**facts, "digest": digest}).encode()
    assert verified(content) == facts
    with pytest.raises(ValueError, match="does not match its checksum"):
        verified(content.replace(b"1234", b"1235"))


# -- files ----------------------------------------------------------------------------------------------------------


def stored(path: Path, content: bytes) -> StoredFile:
    path.write_bytes(content)
    return StoredFile(path, len(content), file_digest(path))


def test_the_digest_of_a_file_has_16_bytes(tmp_path: Path) -> None:
    file = stored(tmp_path / "a", b"content" * 100_000)
    assert file.digest == xxhash.xxh3_128_digest(b"content" * 100_000)
    assert len(file.digest) == 16


def test_a_digest_of_an_earlier_release_is_still_verified(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    digest = hashlib.sha256(b"content").digest()
    assert has_digest(tmp_path / "a", digest)
    flip(tmp_path / "a")
    assert not has_digest(tmp_path / "a", digest)
    assert wrong_content(tmp_path / "a", 7, digest) == "its content does not match its checksum"


@pytest.mark.parametrize("way", WAYS)
def test_every_kind_of_damage_is_named_with_its_file_and_what_mends_it(tmp_path: Path, way: str) -> None:
    files = [stored(tmp_path / f"{number}.dat", bytes([number]) * 1000) for number in range(1, 20)]
    require_intact(files)
    WAYS[way](tmp_path / "7.dat")
    line = error_line(DamagedFile, lambda: require_intact(files))
    assert line.startswith(f"{tmp_path / '7.dat'} is damaged: ")
    assert line.endswith(". Run `periplus repair`.")


def test_the_first_of_several_damaged_files_is_named(tmp_path: Path) -> None:
    files = [stored(tmp_path / f"{number}", b"x" * 100) for number in range(20)]
    for number in (5, 9, 19):
        flip(tmp_path / f"{number}")
    assert str(tmp_path / "5") in error_line(DamagedFile, lambda: require_intact(files))


def test_the_size_is_part_of_the_message(tmp_path: Path) -> None:
    file = stored(tmp_path / "a", b"x" * 100)
    (tmp_path / "a").write_bytes(b"x" * 99)
    assert "it has 99 bytes instead of 100" in error_line(DamagedFile, file.require_intact)
