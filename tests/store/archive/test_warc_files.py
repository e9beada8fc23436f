"""Archived pages can be read by us and by other WARC tools; damage is reported, and never gives a wrong page."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.errors import DamagedFile, DiskFull
from periplus.model import ArchivePosition, Decision, Fetch, Reason, Response, Verdict
from periplus.store.archive.warc_files import (
    Archived,
    ArchiveWriter,
    archive_name,
    parse_archive_name,
    read_response,
    responses,
)
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.durable import reporting_full_disk
from periplus.url import Canonicalizer
from store.records import AT, a_response, error_line, names_in
from store.small_disk import fill, small_disk
from store.test_durable import Trace

NAME = archive_name(0, 1)
HTML = b"Content-Type: text/html; charset=utf-8"
BIN = Path(sys.executable).parent
RECORD_IN_A_BODY = b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
EXCHANGES = {
    "page": a_response(HTML, b"Content-Length: 8"),
    "empty": a_response(HTML, body=b""),
    "no header at all": a_response(),
    "not found": a_response(HTML, status_line=b"HTTP/1.1 404 Not Found"),
    "moved": a_response(b"Location: /new", status_line=b"HTTP/1.1 301 RedirectedUrl Permanently", body=b""),
    "unknown status, no reason": a_response(status_line=b"HTTP/1.0 599"),
    "reason that is no UTF-8": a_response(status_line=b"HTTP/1.1 200 caf\xe9"),
    "header that is no UTF-8": a_response(HTML, b"X-Author: Andr\xe9 \xff\xfe"),
    "header in UTF-8": a_response(HTML, "X-Author: 雨".encode()),
    "same header twice": a_response(HTML, b"Set-Cookie: a=1", b"Set-Cookie: b=2"),
    "binary": a_response(b"Content-Type: application/pdf", body=bytes(range(256)) * 64),
    "body that looks like a record": a_response(HTML, body=RECORD_IN_A_BODY * 3),
    "ipv6": a_response(HTML, ip="2001:db8::1"),
    "address not known": a_response(HTML, ip=""),
    "cut at the cap": a_response(HTML, b"Content-Length: 900", truncated=True),
    "gzip": a_response(HTML, b"Content-Encoding: gzip", b"Content-Length: 5"),
    "chunked": a_response(HTML, b"Transfer-Encoding: chunked"),
    "long address": a_response(HTML, url="https://example.org/?q=" + "%C3%A9" * 300),
}


def written(folder: Path, *exchanges: Response, number: int = 1) -> list[ArchivePosition]:
    """Archive these; returns where they lie."""
    writer = ArchiveWriter(folder, archive_name(0, number), 0)
    positions = [writer.append(response).position for response in exchanges]
    writer.sync(writer.cut())
    writer.close()
    return positions


def members(path: Path) -> list[bytes]:
    """The gzip members of a file, unpacked."""
    data, found = path.read_bytes(), []
    while data:
        unpacker = zlib.decompressobj(wbits=31)
        found.append(unpacker.decompress(data))
        assert unpacker.eof
        data = unpacker.unused_data
    return found


def fields(record: bytes) -> dict[str, str]:
    """The named fields at the start of a WARC record."""
    head = record.partition(b"\r\n\r\n")[0].decode()
    return dict(line.split(": ", 1) for line in head.split("\r\n")[1:])


def block(record: bytes) -> bytes:
    """What a WARC record holds."""
    rest = record.partition(b"\r\n\r\n")[2]
    assert rest.endswith(b"\r\n\r\n")
    assert int(fields(record)["Content-Length"]) == len(rest) - 4
    return rest[:-4]


def stored(folder: Path, response: Response) -> tuple[list[bytes], bytes]:
    """Header lines and body of a response as any other reader finds them."""
    written(folder, response)
    head, _, body = block(members(folder / NAME)[2]).partition(b"\r\n\r\n")
    return head.split(b"\r\n"), body


# --- found again ---


@pytest.mark.parametrize("kind", EXCHANGES)
def test_a_response_is_found_by_its_position(kind: str, tmp_path: Path) -> None:
    sent = EXCHANGES[kind]
    before, position, after = written(tmp_path, a_response(body=b"before"), sent, a_response(body=b"after"))
    found = read_response(tmp_path, position)
    assert (found.url, found.status, found.body) == (sent.url, sent.status, sent.body)
    assert (found.ip, found.truncated, found.mime) == (sent.ip, sent.truncated, sent.mime)
    assert found.fetched_at == pytest.approx(AT, abs=1e-6)
    assert read_response(tmp_path, before).body == b"before"
    assert read_response(tmp_path, after).body == b"after"


def test_headers_survive_as_they_were_sent(tmp_path: Path) -> None:
    for number, sent in enumerate(EXCHANGES.values(), start=1):
        if not sent.headers.keys() & {"content-encoding", "transfer-encoding"} and not sent.truncated:
            found = read_response(tmp_path, *written(tmp_path, sent, number=number))
            assert found.headers == sent.headers
            assert found.head == sent.head


def test_five_megabytes_come_back_byte_for_byte(tmp_path: Path) -> None:
    sent = a_response(HTML, body=random.Random(5).randbytes(5 << 20))
    (position,) = written(tmp_path, sent)
    assert read_response(tmp_path, position).body == sent.body


TOKEN = st.from_regex(rb"x-[a-z0-9!#$%&'*+.^_`|~-]{1,10}", fullmatch=True)
VALUE = st.binary(max_size=30).map(lambda raw: bytes(raw).translate(None, b"\r\n\0"))


@given(headers=st.dictionaries(TOKEN, VALUE, max_size=5), body=st.binary(max_size=2000))
@settings(max_examples=60)
def test_whatever_a_server_sends_comes_back(headers: dict[bytes, bytes], body: bytes) -> None:
    sent = a_response(*(b"%b: %b" % header for header in headers.items()), body=body)
    with tempfile.TemporaryDirectory() as folder:
        (position,) = written(Path(folder), sent)
        found = read_response(Path(folder), position)
    assert found.body == body
    assert found.headers == sent.headers


def test_the_identity_of_a_document_is_the_hash_of_its_bytes(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path, NAME, 0)
    assert writer.append(a_response(body=b"same")).content_id == hashlib.sha256(b"same").digest()
    writer.close()


# --- other tools ---


@pytest.mark.parametrize("command", [["warcio", "check", "-v"], ["fastwarc", "check", "-p"]])
def test_other_tools_read_our_archive(command: list[str], tmp_path: Path) -> None:
    written(tmp_path, *EXCHANGES.values())
    tool, *arguments = command
    result = subprocess.run(
        [BIN / tool, *arguments, tmp_path / NAME], capture_output=True, text=True, timeout=60, check=False
    )
    output = result.stdout + result.stderr
    assert result.returncode == 0, output
    assert "fail" not in output.replace("(0 failed)", "")
    passed = output.count("digest pass") or int(output.split(" records were verified")[0].split()[-1])
    assert passed == len(EXCHANGES)


def test_every_record_is_a_gzip_member_of_its_own(tmp_path: Path) -> None:
    positions = written(tmp_path, *EXCHANGES.values())
    records = members(tmp_path / NAME)
    assert [fields(record)["WARC-Type"] for record in records] == [
        "warcinfo",
        *["request", "response"] * len(EXCHANGES),
    ]
    assert all(record.startswith(b"WARC/1.1\r\n") for record in records)
    data = (tmp_path / NAME).read_bytes()
    for position, response in zip(positions, EXCHANGES.values(), strict=True):
        alone = gzip.decompress(data[position.offset : position.offset + position.length])
        assert fields(alone)["WARC-Target-URI"] == response.url
        assert block(alone).endswith(response.body)


def test_the_file_says_what_made_it(tmp_path: Path) -> None:
    written(tmp_path)
    (info,) = members(tmp_path / NAME)
    assert fields(info)["WARC-Filename"] == NAME
    assert block(info).startswith(b"software: periplus/")


@pytest.mark.parametrize("kind", EXCHANGES)
def test_a_request_and_its_response_name_each_other_and_their_facts(kind: str, tmp_path: Path) -> None:
    sent = EXCHANGES[kind]
    written(tmp_path, sent)
    _, request, response = members(tmp_path / NAME)
    asked, answered = fields(request), fields(response)
    assert asked["WARC-Concurrent-To"] == answered["WARC-Record-ID"] != asked["WARC-Record-ID"]
    for found in (asked, answered):
        assert found["WARC-Target-URI"] == sent.url
        assert found["WARC-Date"] == "2023-11-14T22:13:20.123456Z"
        assert found.get("WARC-IP-Address", "") == sent.ip
    assert asked["Content-Type"] == "application/http;msgtype=request"
    assert answered["Content-Type"] == "application/http;msgtype=response"
    digest = base64.b32encode(hashlib.sha256(sent.body).digest()).decode()
    assert answered["WARC-Payload-Digest"] == f"sha256:{digest}"
    assert answered.get("WARC-Truncated") == ("length" if sent.truncated else None)
    assert block(request) == sent.request


@pytest.mark.parametrize(
    "raw", ["https://example.org/\r\nWARC-Type: x", "https://example.org/a\nb?c\rd", "https://e.org/\0"]
)
def test_a_url_cannot_inject_a_warc_header(raw: str, tmp_path: Path) -> None:
    url = Canonicalizer().canonical(raw)
    assert url is not None
    written(tmp_path, a_response(url=url))
    assert [fields(record)["WARC-Type"] for record in members(tmp_path / NAME)] == ["warcinfo", "request", "response"]
    assert fields(members(tmp_path / NAME)[2])["WARC-Target-URI"] == url


def test_every_record_has_an_identity_of_its_own(tmp_path: Path) -> None:
    written(tmp_path, *EXCHANGES.values())
    names = Counter(fields(record)["WARC-Record-ID"] for record in members(tmp_path / NAME))
    assert set(names.values()) == {1}


# --- bodies are stored decoded ---


@pytest.mark.parametrize(
    "header",
    [b"Content-Encoding: gzip", b"content-encoding:br", b"Transfer-Encoding: chunked", b"TRANSFER-ENCODING : chunked"],
)
def test_headers_of_the_transfer_are_renamed_because_the_body_is_decoded(header: bytes, tmp_path: Path) -> None:
    lines, body = stored(tmp_path, a_response(HTML, header, b"X-Content-Encoding: kept", body=b"decoded"))
    assert lines == [
        b"HTTP/1.1 200 OK",
        HTML,
        b"X-Crawler-" + header,
        b"X-Content-Encoding: kept",
        b"Content-Length: 7",
    ]
    assert body == b"decoded"


@pytest.mark.parametrize("length", [b"3", b"5000", b"", b"eight"])
def test_a_wrong_length_is_put_right_and_the_old_one_kept(length: bytes, tmp_path: Path) -> None:
    lines, _ = stored(tmp_path, a_response(b"Content-Length: " + length, HTML, truncated=True))
    assert lines == [b"HTTP/1.1 200 OK", b"X-Crawler-Content-Length: " + length, HTML, b"Content-Length: 8"]


@pytest.mark.parametrize("header", [b"Content-Length: 8", b"content-length:8", b"Server: x"])
def test_a_head_that_fits_its_body_is_stored_as_it_came(header: bytes, tmp_path: Path) -> None:
    lines, _ = stored(tmp_path, a_response(HTML, header))
    assert lines == [b"HTTP/1.1 200 OK", HTML, header]


# --- appending and what a kill leaves ---


def test_appending_goes_on_while_a_cut_is_written(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path, NAME, 0)
    first = writer.append(a_response(body=b"first")).position
    cut = writer.cut()
    thread = threading.Thread(target=writer.sync, args=(cut,))
    thread.start()
    second = writer.append(a_response(body=b"second")).position
    thread.join()
    assert (tmp_path / NAME).stat().st_size == cut.size
    assert read_response(tmp_path, first).body == b"first"
    writer.sync(writer.cut())
    writer.close()
    assert read_response(tmp_path, second).body == b"second"
    assert (tmp_path / NAME).stat().st_size == writer.size == second.offset + second.length


def test_bytes_are_durable_when_sync_returns_and_a_new_name_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(monkeypatch)
    writer = ArchiveWriter(tmp_path, NAME, 0)
    writer.sync(writer.cut())
    assert trace.steps == [("fsync", NAME), ("fsync", tmp_path.name)]
    writer.append(a_response())
    writer.sync(writer.cut())
    assert trace.steps[2:] == [("fsync", NAME)]
    writer.close()


@pytest.mark.parametrize("tail", [b"\x1f\x8b half a record", b"\0" * 4096, b"x"])
def test_what_was_never_acknowledged_is_cut_off(tail: bytes, tmp_path: Path) -> None:
    (first,) = written(tmp_path, a_response(body=b"first"))
    path = tmp_path / NAME
    acknowledged = path.stat().st_size
    path.write_bytes(path.read_bytes() + tail)
    writer = ArchiveWriter(tmp_path, NAME, acknowledged)
    second = writer.append(a_response(body=b"second")).position
    writer.sync(writer.cut())
    writer.close()
    assert second.offset > acknowledged
    assert [read_response(tmp_path, position).body for position in (first, second)] == [b"first", b"second"]
    assert [fields(record)["WARC-Type"] for record in members(path)] == ["warcinfo", *["request", "response"] * 2]


def test_a_file_never_acknowledged_begins_anew(tmp_path: Path) -> None:
    written(tmp_path, a_response())
    written(tmp_path, a_response(body=b"other"))
    assert len(members(tmp_path / NAME)) == 3


def test_the_name_of_an_archive_file_has_its_worker_and_number() -> None:
    assert archive_name(0, 1) == "w00-000001.warc.gz"
    assert parse_archive_name(archive_name(123, 45)) == (123, 45)
    assert parse_archive_name("imported.warc.gz") == (-1, 0)


def test_a_worker_continues_its_last_file_and_then_starts_the_next(tmp_path: Path) -> None:
    (tmp_path / archive_name(3, 2)).write_bytes(b"x" * 70)
    first = ArchiveWriter.resume(tmp_path, 4, [])
    files = [ArchiveFile(1, archive_name(3, 1), 50, 50), ArchiveFile(2, archive_name(3, 2), 70, 0)]
    last = ArchiveWriter.resume(tmp_path, 3, files)
    following = last.next_file()
    assert [writer.name for writer in (first, last, following)] == [
        archive_name(4, 1),
        archive_name(3, 2),
        archive_name(3, 3),
    ]
    assert last.size == 70
    for writer in (first, last, following):
        writer.close()


def test_what_is_not_synced_is_not_in_the_file(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path, NAME, 0)
    writer.append(a_response())
    writer.close()
    assert (tmp_path / NAME).read_bytes() == b""


def test_a_file_shorter_than_acknowledged_is_damaged(tmp_path: Path) -> None:
    written(tmp_path, a_response())
    path = tmp_path / NAME
    size = path.stat().st_size
    os.truncate(path, size - 1)
    line = error_line(DamagedFile, lambda: ArchiveWriter(tmp_path, NAME, size))
    assert (
        line == f"{path} is shorter than its acknowledged size: expected at least {size} bytes. Run `periplus repair`."
    )
    assert path.stat().st_size == size - 1


def test_a_missing_file_is_damage_and_is_not_created(tmp_path: Path) -> None:
    line = error_line(DamagedFile, lambda: ArchiveWriter(tmp_path, NAME, 100))
    assert line == f"{tmp_path / NAME} cannot be opened: No such file or directory. Run `periplus repair`."
    assert names_in(tmp_path) == []


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "256k") as disk:
        writer = ArchiveWriter(disk, NAME, 0)
        first = writer.append(a_response(body=b"first")).position
        writer.sync(cut := writer.cut())
        ballast = fill(disk, leave=8192)
        writer.append(a_response(body=random.Random(1).randbytes(20_000)))

        def sync() -> None:
            with reporting_full_disk(disk):
                writer.sync(writer.cut())

        assert "No space left" in error_line(DiskFull, sync, exit_code=3)
        writer.close()
        ballast.unlink()
        writer = ArchiveWriter(disk, NAME, cut.size)
        again = writer.append(a_response(body=b"again")).position
        writer.sync(writer.cut())
        writer.close()
        assert [read_response(disk, position).body for position in (first, again)] == [b"first", b"again"]


# --- reading a range ---


def test_a_range_gives_the_positions_that_appending_gave(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path, NAME, 0)
    bounds, positions = [0], []
    for response in EXCHANGES.values():
        positions.append(writer.append(response).position)
        writer.sync(cut := writer.cut())
        bounds.append(cut.size)
    writer.close()
    for start in range(len(EXCHANGES)):
        for end in range(start, len(EXCHANGES) + 1):
            found = list(responses(tmp_path, NAME, bounds[start], bounds[end]))
            assert [record.position for record in found] == positions[start:end]
            assert all(record.is_sound and not record.revisits for record in found)


def test_a_range_gives_the_responses_that_were_appended(tmp_path: Path) -> None:
    positions = written(tmp_path, *EXCHANGES.values())
    found = [record.response for record in responses(tmp_path, NAME, 0, (tmp_path / NAME).stat().st_size)]
    assert found == [read_response(tmp_path, position) for position in positions]
    assert [(response.url, response.body) for response in found] == [(r.url, r.body) for r in EXCHANGES.values()]


def test_what_lies_behind_the_end_of_a_range_is_not_looked_at(tmp_path: Path) -> None:
    written(tmp_path, a_response())
    path = tmp_path / NAME
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"rubbish")
    assert len(list(responses(tmp_path, NAME, 0, size))) == 1


def test_a_file_shorter_than_the_range_is_damaged(tmp_path: Path) -> None:
    written(tmp_path, EXCHANGES["moved"])
    path = tmp_path / NAME
    size = path.stat().st_size
    os.truncate(path, size - 60)
    assert f"expected at least {size} bytes" in error_line(
        DamagedFile, lambda: list(responses(tmp_path, NAME, 0, size))
    )


def test_a_wrong_digest_is_reported(tmp_path: Path) -> None:
    (position,) = written(tmp_path, a_response(body=b"original"))
    path = tmp_path / NAME
    *_, record = members(path)
    forged = path.read_bytes()[: position.offset] + gzip.compress(record.replace(b"original", b"replaced"))
    path.write_bytes(forged)
    (found,) = responses(tmp_path, NAME, 0, len(forged))
    assert (found.response.body, found.is_sound) == (b"replaced", False)


# --- heads that are too long ---


@pytest.mark.parametrize(
    "lines",
    [
        [b"X-%d: %b" % (number, b"x" * 60) for number in range(950)],
        [b"X-Long: " + b"x" * 64_000],
        [b"X-A: " + b"a" * 20_000, b"X-B: " + b"b" * 20_000],
    ],
)
def test_the_longest_lines_of_very_long_headers_are_omitted(lines: list[bytes], tmp_path: Path) -> None:
    sent = a_response(*lines, b"Content-Encoding: gzip", HTML, b"X-Robots-Tag: noindex", body=b"the page")
    assert len(sent.head) > 32_768
    (position,) = written(tmp_path, sent)
    found = read_response(tmp_path, position)
    assert (found.status, found.body, found.mime) == (200, b"the page", "text/html")
    assert found.headers["x-robots-tag"] == "noindex"
    dropped = int(found.headers["x-crawler-headers-dropped"])
    assert len(found.headers) == len(sent.headers) - dropped + 2  # the note, and the length of the body
    assert len(found.head) < 32_000
    subprocess.run([BIN / "fastwarc", "check", "-p", tmp_path / NAME], check=True, capture_output=True)


# --- the same page again ---


def revisited(folder: Path, first: Response, second: Response) -> tuple[Archived, Archived, bytes]:
    """Archive a page twice; returns where the two lie, and the second record."""
    writer = ArchiveWriter(folder, NAME, 0)
    before = writer.append(first)
    fetch = Fetch(first.url, first.fetched_at, 200, Decision(Verdict.FETCHED, Reason.OK), content_id=before.content_id)
    after = writer.append(second, fetch)
    writer.sync(writer.cut())
    writer.close()
    return before, after, members(folder / NAME)[-1]


def test_the_same_body_is_stored_once_and_referred_to(tmp_path: Path) -> None:
    page = a_response(HTML, b"Content-Encoding: gzip", body=b"the page")
    before, after, record = revisited(tmp_path, page, replace(page, fetched_at=AT + 60))
    assert (before.is_revisit, after.is_revisit, after.content_id) == (False, True, before.content_id)
    named = fields(record)
    assert (named["WARC-Type"], named["WARC-Refers-To-Target-URI"]) == ("revisit", page.url)
    assert named["WARC-Refers-To-Date"] == fields(members(tmp_path / NAME)[-3])["WARC-Date"]
    assert named["WARC-Profile"].endswith("/revisit/identical-payload-digest")
    assert b"the page" not in record
    assert b"Content-Length: 8\r\n" in record  # of the body, as it lies in the archive


def test_another_body_is_stored_although_there_was_one_before(tmp_path: Path) -> None:
    page = a_response(HTML, body=b"the page")
    _, after, record = revisited(tmp_path, page, replace(page, body=b"another"))
    assert not after.is_revisit
    assert fields(record)["WARC-Type"] == "response"


def test_what_was_not_sent_again_is_referred_to(tmp_path: Path) -> None:
    unchanged = a_response(b'ETag: "1"', b"Content-Length: 999", status_line=b"HTTP/1.1 304 Not Modified", body=b"")
    before, after, record = revisited(tmp_path, a_response(HTML, body=b"the page"), unchanged)
    assert (after.is_revisit, after.content_id) == (True, before.content_id)
    assert fields(record)["WARC-Profile"].endswith("/revisit/server-not-modified")
    assert record.endswith(b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 999\r\n\r\n\r\n\r\n')


def test_revisits_are_listed_and_hold_no_page(tmp_path: Path) -> None:
    page = a_response(HTML, body=b"the page")
    before, after, _ = revisited(tmp_path, page, page)
    first, second = responses(tmp_path, NAME, 0, (tmp_path / NAME).stat().st_size)
    assert (first.position, first.revisits) == (before.position, b"")
    assert (second.position, second.revisits) == (after.position, before.content_id)
    assert second.response.body == b""
    error_line(DamagedFile, lambda: read_response(tmp_path, after.position))
    for tool in ("warcio", "fastwarc"):
        subprocess.run([BIN / tool, "check", tmp_path / NAME], check=True, capture_output=True)


# --- damage ---


def damaged(data: bytes, start: int, length: int) -> dict[str, bytes]:
    """A file with the bytes from *start* zeroed, cut off, missing, or with one bit flipped here and there."""
    rng = random.Random(length)
    end = start + length
    kinds = {
        "zeroed": data[:start] + bytes(length) + data[end:],
        "half zeroed": data[: start + length // 2] + bytes(end - start - length // 2) + data[end:],
        "cut in half": data[: start + length // 2],
        "removed": data[:start] + data[end:],
        "empty": b"",
    }
    for bit in rng.sample(range(start * 8, end * 8), 150):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        kinds[f"bit {bit - start * 8} flipped"] = bytes(flipped)
    return kinds


def test_a_damaged_record_is_never_a_wrong_page(tmp_path: Path) -> None:
    (position,) = written(tmp_path, a_response(HTML, b"X-A: b", body=random.Random(2).randbytes(300) + b"text " * 50))
    path = tmp_path / NAME
    data, good = path.read_bytes(), read_response(tmp_path, position)
    noticed = Counter[str]()
    for kind, content in damaged(data, position.offset, position.length).items():
        path.write_bytes(content)
        try:
            assert read_response(tmp_path, position) == good, kind
        except DamagedFile:
            noticed[kind.partition(" ")[0]] += 1
    assert noticed["bit"] >= 140  # the others are in the gzip header, where nothing depends on them
    assert noticed.keys() == {"bit", "zeroed", "half", "cut", "removed", "empty"}


def test_reading_a_range_never_passes_damage_as_sound(tmp_path: Path) -> None:
    kept, _, last = written(tmp_path, a_response(body=b"kept"), a_response(HTML, body=b"hit" * 99), a_response())
    path = tmp_path / NAME
    data = path.read_bytes()
    good = list(responses(tmp_path, NAME, 0, len(data)))
    for kind, content in damaged(data, kept.offset + kept.length, last.offset - kept.offset - kept.length).items():
        path.write_bytes(content)
        try:
            found = list(responses(tmp_path, NAME, 0, len(data)))
        except (OSError, ValueError, DamagedFile):
            continue
        sound = {record.response.body for record in found if record.is_sound}
        assert sound <= {record.response.body for record in good}, kind


@pytest.mark.parametrize("offset", [0, 1, 10_000])
def test_a_position_that_holds_no_response_is_reported(offset: int, tmp_path: Path) -> None:
    written(tmp_path, a_response())
    line = error_line(DamagedFile, lambda: read_response(tmp_path, ArchivePosition(NAME, offset, 200)))
    assert f"{tmp_path / NAME} is damaged: no readable response at offset {offset}" in line


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    line = error_line(DamagedFile, lambda: read_response(tmp_path, ArchivePosition(NAME, 0, 10)))
    assert line == f"{tmp_path / NAME} cannot be read: No such file or directory. Run `periplus repair`."
