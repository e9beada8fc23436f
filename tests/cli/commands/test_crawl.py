"""`periplus crawl`: options, output, exit codes and error messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawl.crawling import Outcome, catalog_of, environment, periplus, reach, start, typed, wait
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, hostile, many_hosts, mesh, tree

SEED = "http://a.test/"
SUMMARY = [
    "fetched",
    "html",
    "pdf",
    "bytes",
    "revisits",
    "unchanged",
    "seconds",
    "pages_per_second",
    "known_urls",
    "queued",
    "errors",
    "refused",
    "parked",
    "failed_extractors",
    "exceptions",
    "known_links",
    "traps",
    "timing",
    "run_id",
]


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([tree("a.test", 3, 2)]) as running:
        yield running


def crawl(web: TestWeb, home: Path, *arguments: str | Path) -> Outcome:
    return typed("crawl", *arguments, "--home", home, *reach(web))


# -- what is printed ------------------------------------------------------------------------------------------------


def test_the_json_summary_has_exactly_the_promised_shape(web: TestWeb, tmp_path: Path) -> None:
    outcome = crawl(web, tmp_path, SEED, "http://a.test/x.zip", "http://a.test/gone", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    found = outcome.json
    assert list(found) == SUMMARY
    assert (found["fetched"], found["html"], found["pdf"]) == (13, 13, 0)
    assert (found["known_urls"], found["queued"], found["run_id"]) == (14, 0, 1)
    assert (found["errors"], found["refused"]) == ({"http_404": 1}, {"extension": 1})
    assert isinstance(found["seconds"], float)
    assert found["pages_per_second"] > 0
    assert found["bytes"] > 0


def test_people_get_a_table_and_nothing_on_stderr(web: TestWeb, tmp_path: Path) -> None:
    outcome = crawl(web, tmp_path, SEED)
    assert (outcome.code, outcome.err) == (0, "")
    rows = dict(line.split(maxsplit=1) for line in outcome.out.splitlines())
    assert rows["run"].strip() == "1 (done)"
    assert rows["fetched"].startswith("13 pages, ")
    assert rows["known"].strip() == "13 URLs, 0 still queued"


def test_a_crawl_that_reaches_nothing_still_prints_its_summary(tmp_path: Path) -> None:
    outcome = typed("crawl", "http://127.0.0.1:9/", "--home", tmp_path, "--allow-private", "--json")
    assert outcome.code == 1
    assert outcome.json["errors"] == {"robots_connect": 1}
    assert "nothing was crawled: http://127.0.0.1:9/: unreachable" in outcome.complaint


# -- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "fetched"),
    [
        (["--pages", "5"], 5),
        (["--depth", "1"], 4),
        (["--depth", "0"], 1),
        (["--seconds", "0"], 0),
        (["--bytes", "1"], 1),
        (["--scope-path", "^/$", "--scope-path", "/node/[01]$"], 3),
        (["--scope-host", "a[.]test"], 13),
        (["--workers", "1", "--concurrency", "1", "--delay", "0"], 13),
    ],
)
def test_options_limit_the_crawl(web: TestWeb, tmp_path: Path, options: list[str], fetched: int) -> None:
    outcome = crawl(web, tmp_path, SEED, *options, "--json")
    assert (outcome.code, outcome.json["fetched"]) == (0, fetched)
    assert sum(web.log.fetched().values()) == fetched


def test_the_delay_is_an_option(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2)]) as web:
        crawl(web, tmp_path, SEED, "--delay", "0.4")
        assert min(web.log.gaps("a.test")) > 0.3


def test_hosts_may_be_dialled_elsewhere_one_by_one(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2)]) as first, TestWeb([mesh("b.test", 2)]) as second:
        outcome = typed(
            *("crawl", SEED, "http://b.test:8080/", "--home", tmp_path, "--allow-private", "--json"),
            *("--connect-to", f"a.test:80:127.0.0.1:{first.http_port}"),
            *("--connect-to", f"b.test::127.0.0.1:{second.http_port}"),
        )
        assert outcome.json["fetched"] == 4
        assert first.log.count("a.test") == 3
        assert [entry.url for entry in second.log.entries()] == [
            "http://b.test:8080/robots.txt",
            "http://b.test:8080/",
            "http://b.test:8080/page/1",
        ]


def test_seeds_come_from_the_line_and_from_a_file(tmp_path: Path) -> None:
    sites = [Site(f"{name}.test", {"/": Page(), "/2": Page()}) for name in "abc"]
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://b.test/\nc.test\thttp://c.test/\thttp://c.test/2\n")
    with TestWeb(sites) as web:
        outcome = crawl(web, tmp_path / "home", SEED, "--seeds", seeds, "--json")
        assert sorted(web.log.fetched()) == ["http://a.test/", "http://b.test/", "http://c.test/", "http://c.test/2"]
    assert outcome.json["fetched"] == 4


def test_what_was_typed_is_kept_with_the_run(web: TestWeb, tmp_path: Path) -> None:
    crawl(web, tmp_path, SEED, "--pages", "2", "--depth", "3")
    with catalog_of(tmp_path) as catalog:
        run = catalog.last_run()
    assert run is not None
    assert (run["arguments"]["seeds"], run["arguments"]["pages"]) == ([SEED], 2)
    assert run["arguments"]["flags"]["scope.depth"] == 3


def test_flags_win_over_the_environment_and_the_environment_over_the_file(web: TestWeb, tmp_path: Path) -> None:
    (tmp_path / "periplus.toml").write_text("[scope]\ndepth = 0\n")
    env = environment(scope__depth=1)
    for arguments, settings, pages in (([], environment(), 1), ([], env, 4), (["--depth", "2"], env, 13)):
        home = tmp_path / f"home-{pages}"
        home.mkdir()
        (home / "periplus.toml").write_text("[scope]\ndepth = 0\n")
        outcome = typed("crawl", SEED, "--home", home, "--json", *arguments, *reach(web), env=settings)
        assert outcome.json["fetched"] == pages


def test_https_sites_are_crawled_with_a_certificate_authority_of_ones_own(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3)], https=True) as web:
        untrusted = crawl(web, tmp_path, "https://a.test/", "--json")
        assert (untrusted.code, untrusted.json["errors"]) == (1, {"robots_tls_issuer": 1})
        env = environment(fetch__ca_file=web.ca_file)
        trusted = typed("crawl", "https://a.test/", "--home", tmp_path, "--json", *reach(web), env=env)
    assert (trusted.code, trusted.json["fetched"]) == (0, 3)


# -- nothing dangerous reaches a terminal ---------------------------------------------------------------------------


def test_nothing_crawled_can_move_a_cursor_or_forge_a_line(tmp_path: Path) -> None:
    evil = "\x1b[2J\x9b31m\x07\x85forged"
    robots = f"User-agent: *\nDisallow: /secret{evil}\nDisallow: /secret\n"
    pages = {
        "/": Page(
            html=f'<a href="/x{evil}">{evil}</a><a href="/secret\x1b">s</a><a href="/moved">m</a><a href="/t">t</a>'
        ),
        "/moved": Page(redirect=f"file:///{evil}"),
        "/t": Page(body=b"x", content_type=f"image/{evil}"),
    }
    home, log = tmp_path / "home", tmp_path / "crawl.log"
    with TestWeb([Site("a.test", pages, robots)]) as web:
        outcomes = [crawl(web, home, SEED, "--log-file", log), crawl(web, home, SEED, "--json")]
        urls = [entry.url for entry in web.log.entries()]
    outcomes += [typed("status", "--home", home), typed("status", "--home", home, "--json")]
    for url in {*urls, "http://a.test/secret%1B", f"http://a.test/x{evil}"}:
        outcomes += [
            typed("inspect", "url", url, "--home", home),
            typed("inspect", "url", url, "--home", home, "--json"),
        ]
    outcomes += [
        typed("crawl", f"http://a.test/{evil}\r\nforged", "--home", home),
        typed("crawl", evil, "--home", home),
    ]
    for outcome in outcomes:
        assert outcome.out.replace("\n", "").isprintable(), outcome
        assert outcome.err.replace("\n", "").isprintable(), outcome
    text = log.read_text(encoding="utf-8")
    assert text.replace("\n", "").isprintable()
    assert "forged" in text
    assert all(line.startswith("20") for line in text.splitlines())


# -- exit codes -----------------------------------------------------------------------------------------------------


def a_file(path: Path) -> None:
    path.write_text("not a folder")


def bad_toml(path: Path) -> None:
    path.mkdir()
    (path / "periplus.toml").write_text("fetch = [")


def unknown_setting(path: Path) -> None:
    path.mkdir()
    (path / "periplus.toml").write_text("[fetch]\ntimout = 5\n")


def wrong_value(path: Path) -> None:
    path.mkdir()
    (path / "periplus.toml").write_text("[fetch]\nslowest = 'soon'\n")


def newer(path: Path) -> None:
    path.mkdir()
    (path / "collection.json").write_text(json.dumps({"format": 2}))


def foreign(path: Path) -> None:
    path.mkdir()
    (path / "thesis.tex").write_text("x")


def garbage(path: Path) -> None:
    (path.parent / "garbage").write_bytes(bytes(range(256)))


def nothing(path: Path) -> None:
    pass


LONG_NAME = f"http://{'a' * 64}.test/"
TABLE: list[tuple[str, Callable[[Path], None], list[str], int, str]] = [
    ("not a url", nothing, ["crawl", "not-a-url"], 2, "'not-a-url' cannot be crawled: not a URL"),
    ("other scheme", nothing, ["crawl", "ftp://a.test/"], 2, "the scheme 'ftp' is not http or https"),
    ("no host", nothing, ["crawl", "http://"], 2, "its host or port is invalid"),
    ("bad port", nothing, ["crawl", "http://a.test:99999/"], 2, "its host or port is invalid"),
    ("bad toml", bad_toml, ["crawl", SEED], 2, "is not valid TOML"),
    ("unknown setting", unknown_setting, ["crawl", SEED], 2, "Did you mean 'fetch.timeout'?"),
    ("wrong value", wrong_value, ["config", "show"], 2, "fetch.slowest = 'soon' in periplus.toml is not valid"),
    ("bad host regex", nothing, ["crawl", SEED, "--scope-host", "("], 2, "not a valid regular expression"),
    ("bad path regex", nothing, ["crawl", SEED, "--scope-path", "*"], 2, "not a valid regular expression"),
    ("bad connect-to", nothing, ["crawl", SEED, "--connect-to", "a:b"], 2, "HOST1:PORT1:HOST2:PORT2"),
    ("too many at once", nothing, ["crawl", SEED, "--concurrency", "99999"], 2, "must be at most 4096"),
    ("no seeds at all", nothing, ["crawl"], 2, "nothing to crawl: no seed was given, now or before"),
    ("missing seeds", nothing, ["crawl", "--seeds", "{}/none.txt"], 2, "none.txt cannot be read"),
    ("empty seeds", nothing, ["crawl", "--seeds", "/dev/null"], 2, "contains no seed URL. Write one URL per line."),
    ("binary seeds", garbage, ["crawl", "--seeds", "{}/garbage"], 2, "garbage cannot be read"),
    ("seeds folder", nothing, ["crawl", "--seeds", "{}"], 2, "cannot be read"),
    ("log file", nothing, ["crawl", SEED, "--log-file", "{}/no/such/folder/log"], 2, "cannot be written"),
    ("no ca file", nothing, ["crawl", SEED], 2, "fetch.ca_file '/no/ca.pem' cannot be used"),
    ("file as home", a_file, ["crawl", SEED], 1, "is not a folder. Choose another folder with --home."),
    ("foreign folder", foreign, ["crawl", SEED], 1, "is neither empty nor a collection: it holds 'thesis.tex'"),
    ("newer format", newer, ["crawl", SEED], 1, "has format 2: this release"),
    ("newer format", newer, ["status"], 1, "has format 2: this release"),
    ("no collection", nothing, ["status"], 1, "holds no collection"),
    ("private", nothing, ["crawl", "http://127.0.0.1:9/"], 1, "refused by private_address"),
    ("no such name", nothing, ["crawl", LONG_NAME], 1, "unreachable (robots.txt unreachable: dns"),
    ("dead", nothing, ["crawl", "http://127.0.0.1:9/", "--allow-private"], 1, "robots.txt unreachable: connect"),
    ("out of scope", nothing, ["crawl", SEED, "--scope-host", "b"], 1, "refused by scope_host (a.test matches none"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepare", "arguments", "code", "words"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_a_mistake_is_one_line_and_the_right_exit_code(
    tmp_path: Path, prepare: Callable[[Path], None], arguments: list[str], code: int, words: str
) -> None:
    home = tmp_path / "home"
    prepare(home)
    env = environment(**({"fetch__ca_file": "/no/ca.pem"} if words.startswith("fetch.ca_file") else {}))
    filled = [argument.format(tmp_path) for argument in arguments]
    outcome = periplus(*filled, "--home", home, env=env)
    assert (outcome.code, words in outcome.complaint) == (code, True), outcome
    if code == 2 and prepare is nothing:
        assert not home.exists()  # nothing was done


@pytest.mark.parametrize(
    "arguments",
    [
        ["--pages", "0"],
        ["--pages", "x"],
        ["--seconds", "-1"],
        ["--seconds", "nan"],
        ["--delay", "-1"],
        ["--delay", "nan"],
        ["--depth", "-1"],
        ["--bytes", "0"],
        ["--workers", "0"],
        ["--no-such-option"],
        ["--pages"],
    ],
)
def test_a_senseless_option_is_a_usage_error(tmp_path: Path, arguments: list[str]) -> None:
    outcome = typed("crawl", SEED, "--home", tmp_path / "home", *arguments)
    assert outcome.code == 2
    assert arguments[0] in outcome.err
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/proc/periplus", "/dev/null/periplus"])
def test_a_folder_that_cannot_be_created_is_an_error(place: str) -> None:
    outcome = periplus("crawl", SEED, "--home", place)
    assert outcome.code == 1
    assert place in outcome.complaint
    assert "another folder with --home" in outcome.complaint


@pytest.mark.slow
def test_a_second_crawl_of_the_same_collection_names_the_first_process(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page(handler=hostile.silence)})]) as web:
        first = start("crawl", SEED, "--home", tmp_path, *reach(web))
        web.log.wait_for(2)
        for command in (["crawl", SEED, *reach(web)], ["verify"]):
            second = typed(*command, "--home", tmp_path)
            assert second.code == 1
            assert f"{tmp_path} is in use: process {first.pid} is writing it" in second.complaint
        reading = typed("status", "--json", "--home", tmp_path)  # reading is possible all the time
        assert (reading.code, reading.json["last_run"]["outcome"]) == (0, "running")
        assert typed("inspect", "url", SEED, "--home", tmp_path).code == 0
        first.kill()
        assert wait(first).code == -9
    with open_collection(tmp_path).locked():
        pass  # a killed crawl holds nothing


@pytest.mark.slow
def test_progress_goes_to_stderr_where_it_is_no_terminal_and_data_to_stdout(tmp_path: Path) -> None:
    with TestWeb(many_hosts(2, 30)) as web:
        outcome = periplus("crawl", "http://h0001.test/", "--scope-host", ".*", "--home", tmp_path, *reach(web))
    assert (outcome.code, outcome.err) == (0, "")
    assert "60 pages" in outcome.out


@pytest.mark.slow
def test_a_person_at_a_terminal_sees_figures_that_change(tmp_path: Path) -> None:
    leader, follower = os.openpty()
    with TestWeb([Site("a.test", {"/": Page(delay=1.5)})]) as web:
        env = environment() | {"TERM": "xterm"}
        child = start("crawl", SEED, "--home", tmp_path, *reach(web), env=env, stderr=follower)
        out, _ = child.communicate(timeout=30)
    os.close(follower)
    os.set_blocking(leader, False)
    time.sleep(0.1)
    shown = os.read(leader, 1 << 20).decode()
    os.close(leader)
    assert child.returncode == 0
    assert "1 active request," in " ".join(shown.split())
    assert "1 page," in out


# -- where to begin, and when to stop -------------------------------------------------------------------------------

LISTING = Page(body=b"<urlset><url><loc>http://a.test/hidden</loc></url></urlset>", content_type="application/xml")


def islands() -> Site:
    draws = hostile.in_turn(*(Page(redirect=f"/{n}") for n in range(99)))
    pages = {f"/{n}": Page(f"Island {n}") for n in range(9)}
    lists = {"/sitemap.xml": LISTING, "/list": LISTING, "/hidden": Page("Hidden")}
    return Site("a.test", pages | lists | {"/random": Page(handler=draws)})


@pytest.mark.parametrize("words", [["--sitemap", "http://a.test/list"], ["http://a.test/sitemap.xml"]])
def test_a_crawl_begins_at_the_pages_of_a_sitemap(tmp_path: Path, words: list[str]) -> None:
    with TestWeb([islands()]) as web:
        for again in (0, 1):  # given again, it is read again
            outcome = crawl(web, tmp_path / "c", *words, "--depth", "0", "--json")
            assert (outcome.code, outcome.json["fetched"]) == (0, 1 - again)
        assert web.log.count("a.test", "/hidden") == 1
        assert len(web.log.paths("a.test")) == 4


def test_a_sitemap_in_a_file_names_seeds(tmp_path: Path) -> None:
    (tmp_path / "pages.xml").write_bytes(LISTING.body)  # type: ignore[arg-type]
    with TestWeb([islands()]) as web:
        outcome = crawl(web, tmp_path / "c", "--sitemap", tmp_path / "pages.xml", "--json")
    assert (outcome.code, outcome.json["fetched"]) == (0, 1)


def test_seeds_are_read_from_stdin(tmp_path: Path) -> None:
    with TestWeb([islands()]) as web:
        command = [sys.executable, "-m", "periplus", "crawl", "--seeds", "-", "--home", str(tmp_path), *reach(web)]
        seeds = "http://a.test/1\na.test\thttp://a.test/2\thttp://a.test/3\n"
        subprocess.run(command, input=seeds.encode(), env=environment(), check=True, capture_output=True)
        assert set(web.log.fetched()) == {f"http://a.test/{n}" for n in (1, 2, 3)}


def test_an_entry_is_refetched_until_the_budget_is_reached(tmp_path: Path) -> None:
    with TestWeb([islands()]) as web:
        outcome = crawl(web, tmp_path / "c", "--entry", "http://a.test/random", "--until-pages", "4", "--json")
        assert (outcome.code, outcome.json["fetched"]) == (0, 4)
        again = crawl(web, tmp_path / "c", "--entry", "http://a.test/random", "--until-pages", "6", "--json")
        assert again.json["fetched"] == 2


def test_rounds_are_shown_in_a_table_and_in_the_json(tmp_path: Path) -> None:
    with TestWeb([tree("a.test", 2, 3)]) as web:
        found = crawl(web, tmp_path / "j", SEED, "--rounds", "2", "--json").json
        assert [one["fetched"] for one in found["rounds"]] == [1, 2]
        lines = crawl(web, tmp_path / "t", SEED, "--rounds", "2").out.splitlines()
    assert lines[-3].split() == ["round", "known", "URLs", "new", "fetched", "seconds"]
    assert [line.split()[:4] for line in lines[-2:]] == [["1", "3", "3", "1"], ["2", "7", "4", "2"]]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--rounds", "2", "--entry", SEED], "rounds and an entry cannot be combined"),
        (["--rounds", "0"], "Input should be greater than or equal to 1"),
        (["--sitemap", "none.xml"], "the sitemap none.xml cannot be read: No such file or directory"),
        (["--sitemap", "ftp://a.test/"], "cannot be crawled"),
        (["--entry", "nonsense"], "'nonsense' cannot be crawled"),
        (["--until-pages", "0"], "Input should be greater than or equal to 1"),
    ],
)
def test_mistakes_about_beginnings_are_one_line(tmp_path: Path, words: list[str], complaint: str) -> None:
    outcome = typed("crawl", *words, "--home", tmp_path / "c")
    assert outcome.code == 2
    assert complaint in outcome.complaint
    assert not (tmp_path / "c").exists()


def test_a_class_without_due_pages_is_reported(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page()})]) as web:
        assert typed("crawl", "http://a.test/", "--home", tmp_path, *reach(web)).code == 0
        outcome = typed("crawl", "--home", tmp_path, "--class", "hot", *reach(web))
        assert outcome.code == 0
        assert "No hot page was due" in outcome.out
        assert web.log.count("a.test", "/") == 1


def test_options_that_exclude_each_other_are_an_error(tmp_path: Path) -> None:
    outcome = typed("crawl", "http://a.test/", "--home", tmp_path, "--continuous", "--new-only")
    assert outcome.code == 2
    assert "cannot be combined" in outcome.complaint
