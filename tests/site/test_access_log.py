"""The access log can be read by every tool for web server logs, and tells nobody what was searched."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from periplus.config import Serving
from periplus.errors import UsageError
from periplus.site.access_log import AccessLog, escaped
from web.engines import FakeEngine
from web.serving import Site, searching

COMBINED = re.compile(
    r'(?P<client>\S+) - - \[(?P<time>[^]]+)\] "(?P<request>[^"]*)" (?P<status>\d{3}) (?P<size>\d+) '
    r'"(?P<referer>[^"]*)" "(?P<agent>[^"]*)"'
)


@contextmanager
def logged(path: Path, **settings: object) -> Iterator[Site]:
    """A site with a log; at the end all lines are in the file."""
    with searching(FakeEngine(), Serving.model_validate({"access_log": str(path), **settings})) as site:
        yield site


def lines(path: Path) -> list[re.Match[str]]:
    found = [COMBINED.fullmatch(line) for line in path.read_text("ascii").split("\n")[:-1]]
    assert all(found)
    return [line for line in found if line]


def test_a_request_is_one_line_in_the_combined_format(tmp_path: Path) -> None:
    with logged(tmp_path / "log") as site:
        answer = site.get("/search?q=private", {"User-Agent": "Reader/1.0", "Referer": "http://a.example/?q=private"})
    (line,) = lines(tmp_path / "log")
    assert line["client"] == "127.0.0.1"
    assert line["request"] == "GET /search HTTP/1.1"
    assert (line["status"], line["size"]) == ("200", str(len(answer.body)))
    assert (line["referer"], line["agent"]) == ("http://a.example/", "Reader/1.0")
    moment = time.strptime(line["time"], "%d/%b/%Y:%H:%M:%S +0000")
    assert abs(time.mktime(moment) - time.mktime(time.gmtime())) < 600


def test_queries_are_logged_only_when_the_setting_says_so(tmp_path: Path) -> None:
    for name, kept in (("without", False), ("with", True)):
        with logged(tmp_path / name, log_queries=kept) as site:
            site.get("/api/search?q=private+matter", {"Referer": "http://a.example/?private#private"})
            site.get("/cached?url=private:matter")
        assert ("private" in (tmp_path / name).read_text()) is kept


def test_errors_and_files_and_heads_are_logged_too(tmp_path: Path) -> None:
    with logged(tmp_path / "log") as site:
        for path in ("/none", "/static/style.css", f"/search?q={40_000 * 'a'}"):
            site.get(path)
        site.get("/", method="HEAD")
        site.get("/", method="POST")
    found = lines(tmp_path / "log")
    assert [line["status"] for line in found] == ["404", "200", "414", "200", "405"]
    assert (found[3]["request"], found[3]["size"]) == ("HEAD / HTTP/1.1", "0")


INJECTIONS = [
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"\x9b31m",
    b"tab\there",
    b'quote" 200 1 "-" "-',
    b"back\\slash",
    b"\\n",
    b"\x7f\x08\x08",
    b"\xe2\x80\xae txt",
    b"\xff\xfe",
    b"\xc3\xa9",
    b"%0d%0a127.0.0.1 - - forged",
]


@pytest.mark.parametrize("text", INJECTIONS)
def test_a_request_cannot_forge_a_line_or_reach_the_terminal(tmp_path: Path, text: bytes) -> None:
    with logged(tmp_path / "log", log_queries=True) as site:
        with site.connect() as connection:
            connection.sendall(
                b"GET /search?q=x HTTP/1.1\r\nHost: a\r\nReferer: %b\r\nUser-Agent: %b\r\nConnection: close\r\n\r\n"
                % (text, text)
            )
            while connection.recv(65_536):
                pass
        site.get("/robots.txt")
    content = (tmp_path / "log").read_bytes()
    assert len(lines(tmp_path / "log")) in {1, 2}, "the HTTP parser itself refuses some"
    assert not re.search(rb"[^\x20-\x7e\n]", content)


@pytest.mark.parametrize("code", [*range(32), 127, 128, 155, 255])
def test_every_control_character_is_escaped(code: int) -> None:
    assert escaped(bytes([97, code, 98])) == b"a\\x%02Xb" % code


def test_a_long_header_takes_a_limited_line(tmp_path: Path) -> None:
    with logged(tmp_path / "log") as site:
        site.get("/", {"User-Agent": 30_000 * "a", "Referer": 20_000 * "b"})
    assert len((tmp_path / "log").read_bytes()) < 5_000


def test_the_client_behind_a_trusted_proxy_is_logged(tmp_path: Path) -> None:
    with logged(tmp_path / "log", trusted_proxies=["127.0.0.1"]) as site:
        site.get("/", {"X-Forwarded-For": "203.0.113.7"})
    assert lines(tmp_path / "log")[0]["client"] == "203.0.113.7"


def test_a_log_that_was_renamed_goes_on_in_a_new_file(tmp_path: Path) -> None:
    with logged(tmp_path / "log") as site:
        site.get("/robots.txt")
        deadline = time.monotonic() + 10
        while not (tmp_path / "log").read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (tmp_path / "log").rename(tmp_path / "log.1")
        site.get("/")
    assert lines(tmp_path / "log.1")[0]["request"] == "GET /robots.txt HTTP/1.1"
    assert lines(tmp_path / "log")[0]["request"] == "GET / HTTP/1.1"


def test_a_log_that_cannot_be_written_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write the access log .*: No such file or directory"):
        AccessLog(str(tmp_path / "none" / "log"), with_queries=False)


def test_a_disk_that_is_full_does_not_stop_the_site(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with logged(tmp_path / "log") as site:
        (tmp_path / "log").unlink()
        (tmp_path / "log").mkdir()
        assert site.get("/").status == 200
    assert "1 lines of the access log are lost" in caplog.text


def test_the_log_can_be_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with searching(FakeEngine(), Serving(access_log="-")) as site:
        site.get("/search?q=private")
    line = COMBINED.fullmatch(capsys.readouterr().err.strip())
    assert line
    assert line["request"] == "GET /search HTTP/1.1"
