"""Are duplicates and near duplicates recognised, by any worker, and other pages not?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for, sound, typed
from periplus.crawl.run import Request, crawl
from periplus.crawl.visits.novelty import NoveltyDetector
from periplus.model import Copy, Novelty
from periplus.model import Page as Parsed
from periplus.pipeline import build, open_engine
from testweb import Page, Site, TestWeb, mesh, prose

SEED = "http://a.test/"
STORY = prose.text("a story")


def stories(*paths: str, **pages: Page) -> Site:
    """A home page that links to all others."""
    named = {f"/{name}": page for name, page in pages.items()}
    return Site("a.test", {"/": Page("Home", "Welcome to all of it.", links=[*named, *paths])} | named)


def inspected(home: Path, url: str) -> str:
    """The output of `inspect url`, without padding."""
    return " ".join(typed("inspect", "url", url, "--home", home).out.split())


def copy_of(home: Path, url: str) -> Copy | None:
    with catalog_of(home) as catalog:
        return catalog.copy(url)


def test_the_same_bytes_at_two_urls_are_a_copy_of_the_first(tmp_path: Path) -> None:
    with TestWeb([stories(one=Page("Story", STORY), two=Page("Story", STORY), other=Page("Else", "Else."))]) as web:
        run_crawl(web, tmp_path, SEED, fetch__concurrency=1)
    found = [copy_of(tmp_path, f"{SEED}{name}") for name in ("", "one", "two", "other")]
    assert found == [None, None, Copy(f"{SEED}two", f"{SEED}one", None), None]
    with catalog_of(tmp_path) as catalog:
        assert catalog.copies_of(f"{SEED}one", 10) == [f"{SEED}two"]
    sound(tmp_path)


def test_the_same_bytes_are_recognised_across_workers(tmp_path: Path) -> None:
    hosts = [f"h{number}.test" for number in range(12)]
    sites = [Site(host, {"/": Page("Mirror", STORY)}) for host in hosts]
    with TestWeb(sites) as web:
        crawl(Request(tmp_path, settings_for(web), [f"http://{host}/" for host in hosts], workers=2))
    with catalog_of(tmp_path) as catalog:
        assert len(catalog.archive_workers()) == 2
        found = [catalog.copy(f"http://{host}/") for host in hosts]
    (original,) = {copy.original for copy in found if copy}
    assert sum(copy is None for copy in found) == 1
    assert found[hosts.index(original.split("/")[2])] is None


def test_a_near_duplicate_is_a_copy_with_the_number_of_differing_bits(tmp_path: Path) -> None:
    again = STORY.replace(STORY.split()[40], "elsewhere", 1)
    with TestWeb([stories(one=Page("Story", STORY), two=Page("Story", again))]) as web:
        run_crawl(web, tmp_path, SEED, fetch__concurrency=1)
    found = copy_of(tmp_path, f"{SEED}two")
    assert found is not None
    assert found.original == f"{SEED}one"
    assert found.bits is not None
    assert f"duplicate of {SEED}one (near duplicate: {found.bits} bits of 64 differ)" in inspected(
        tmp_path, f"{SEED}two"
    )
    assert f"duplicates {SEED}two" in inspected(tmp_path, f"{SEED}one")


def test_the_same_text_under_another_title_is_no_copy() -> None:
    detector = NoveltyDetector()
    detector.compare("a.test", "http://a.test/1", Parsed("Release notes of spring", text=STORY))
    assert detector.compare("a.test", "http://a.test/2", Parsed("Release notes of autumn", text=STORY)).copy is None
    assert detector.compare("a.test", "http://a.test/3", Parsed("Release notes of autumn", text=STORY)).copy is not None


def test_a_much_longer_page_is_no_copy() -> None:
    detector = NoveltyDetector()
    beginning = "\n".join(prose.text(f"chapter {number}") for number in range(40))
    detector.compare("a.test", "http://a.test/1", Parsed("Book", text=beginning))
    longer = f"{beginning}\n{prose.text('the end')}\n{prose.text('and more')}"
    assert detector.compare("a.test", "http://a.test/2", Parsed("Book", text=longer)).copy is None
    assert detector.compare("a.test", "http://a.test/3", Parsed("Book", text=f"{longer} Indeed.")).copy is not None


@pytest.mark.parametrize("text", ["", "Not found.", "Page 7 of 12\nnext\nprevious"])
def test_short_texts_are_never_copies_by_chance(text: str) -> None:
    detector = NoveltyDetector()
    detector.compare("a.test", "http://a.test/1", Parsed("Shop", text=text))
    assert detector.compare("a.test", "http://a.test/2", Parsed("Shop", text=text)).copy is None


def test_a_page_adds_only_lines_that_its_host_has_not_shown() -> None:
    detector = NoveltyDetector()
    first = detector.compare("a.test", "http://a.test/1", Parsed("", text="Home\nContact\nA tide table for May 2024"))
    again = detector.compare("a.test", "http://a.test/2", Parsed("", text="Home\nContact\nA tide table for May 2025"))
    other = detector.compare("b.test", "http://b.test/1", Parsed("", text="Home\nContact\nA tide table for May 2025"))
    assert first.novelty is other.novelty is Novelty.NEW
    assert again.novelty is Novelty.NONE


def test_a_repeated_line_is_not_forgotten_for_lines_seen_once() -> None:
    detector = NoveltyDetector()
    form = Parsed("Reply", text="Log in to reply to this.")
    detector.compare("a.test", "http://a.test/reply", form)
    for number in range(300):  # more lines than there are slots
        article = "\n".join(f"The log of the {_letters(80 * number + line)}" for line in range(80))
        detector.compare("a.test", f"http://a.test/{number}", Parsed("", text=article), trusting=False)
        assert detector.compare("a.test", f"http://a.test/reply/{number}", form, trusting=False).novelty is Novelty.NONE


def _letters(number: int) -> str:
    """A name for a number, of letters only: the digits of a line do not count."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:06d}")


COMBINATIONS = ["large chairs", "chairs of oak", "large and oak", "oak and large", "of large chairs"]


def _novelties(pages: Iterable[Parsed], path: str) -> list[Novelty]:
    detector = NoveltyDetector()
    return [detector.compare("a.test", f"http://a.test/{path}{n}", page).novelty for n, page in enumerate(pages)]


def test_known_words_in_a_new_order_are_alike_where_parameters_are_combined() -> None:
    found = _novelties(map(Parsed, COMBINATIONS), "list?n=")
    assert found == [Novelty.NEW, Novelty.NEW, Novelty.NEW, Novelty.ALIKE, Novelty.ALIKE]


def test_a_title_that_differs_in_more_than_numbers_and_dates_is_new() -> None:
    assert set(_novelties(map(Parsed, COMBINATIONS), "")) == {Novelty.NEW}
    dates = [f"Monday, {day} January 2024" for day in (1, 8, 15)] + ["Tuesday, 2 February 2024"]
    assert _novelties(map(Parsed, dates), "")[1:] == [Novelty.NONE] * 3


def test_a_title_that_a_list_page_has_named_before_is_still_new() -> None:
    index = Parsed("Index", text="\n".join(COMBINATIONS))
    pages = [Parsed(title, text="See the index.") for title in COMBINATIONS]
    assert set(_novelties([index, *pages], "")) == {Novelty.NEW}


def test_a_page_with_the_text_of_another_repeats_it_and_one_with_other_numbers_does_not() -> None:
    detector = NoveltyDetector()
    compared = [
        detector.compare("a.test", f"http://a.test/{n}", Parsed("Rain", text=f"{n % 2} mm of rain")) for n in range(4)
    ]
    assert [one.is_repeat for one in compared] == [False, False, True, True]
    assert compared[1].novelty is Novelty.NONE


def test_a_host_whose_pages_were_all_new_is_trusted_until_it_repeats_itself() -> None:
    detector = NoveltyDetector()
    compared = [
        detector.compare("a.test", f"http://a.test/{n}", Parsed("", text=prose.text(f"{n}"))) for n in range(100)
    ]
    assert all(one.novelty is Novelty.NEW for one in compared)
    again = [
        detector.compare("a.test", f"http://a.test/again/{n}", Parsed("", text="Nothing more.")) for n in range(40)
    ]
    dull = [one.novelty is not Novelty.NEW for one in again]
    assert dull.index(True) <= 16, "the second comparison with known lines shows it"
    assert all(dull[dull.index(True) + 9 :]), "and after two repeats every page is compared"


def test_every_page_of_a_host_with_traps_is_compared() -> None:
    detector = NoveltyDetector()
    for number in range(200):
        compared = detector.compare(
            "a.test", f"http://a.test/{number}", Parsed("", text=prose.text(f"{number}")), trusting=False
        )
        assert compared.is_certain


def test_memory_is_bounded_and_the_newest_pages_stay() -> None:
    detector = NoveltyDetector()
    for number in range(1_300):
        detector.compare("a.test", f"http://a.test/{number}", Parsed("Same", text=prose.text(f"story {number}")))
        detector.compare("a.test", f"http://a.test/{number}/none", Parsed("Not found"))  # not a host to trust
    newest = detector.compare("a.test", "http://a.test/again", Parsed("Same", text=prose.text("story 1299")))
    assert newest.copy == Copy("http://a.test/again", "http://a.test/1299", 0)
    assert detector.compare("a.test", "http://a.test/old", Parsed("Same", text=prose.text("story 0"))).copy is None


def test_pages_that_differ_are_no_copies(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 300)]) as web:
        run_crawl(web, tmp_path, SEED)
    with catalog_of(tmp_path) as catalog:
        assert not [url for url in catalog.known_urls() if catalog.copy(url)]


def test_a_page_that_changed_is_no_copy_any_more(tmp_path: Path) -> None:
    with TestWeb([stories(one=Page("Story", STORY), two=Page("Story", STORY))]) as web:
        run_crawl(web, tmp_path, SEED, fetch__concurrency=1)
        assert copy_of(tmp_path, f"{SEED}two") is not None
        web.site("a.test").pages["/two"] = Page("Another story", prose.text("another one"))
        run_crawl(web, tmp_path, f"{SEED}two")
    assert copy_of(tmp_path, f"{SEED}two") is None


# -- one result for all copies ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nearly equal stories at two hosts, and others."""
    home = tmp_path_factory.mktemp("copies") / "home"
    again = STORY.replace(STORY.split()[40], "elsewhere", 1)
    others = {f"/{number}": Page("Story", prose.text(f"other {number}")) for number in range(5)}
    here = Site("a.test", {"/": Page("Home", "Hi.", links=["/one", *others, "http://b.test/long/two"])} | others)
    here.pages["/one"] = Page("Story", STORY, lang="en")
    with TestWeb([here, Site("b.test", {"/long/two": Page("Story", again, lang="en")})]) as web:
        settings = settings_for(web, scope__hosts=[".*"])
        build(Request(home, settings, [SEED]))
    return home


def results(home: Path) -> dict[str, tuple[str, ...]]:
    engine = open_engine(Request(home, settings_for(None)))
    try:
        return {hit.url: hit.same_content for hit in engine.search("site:test", size=50).hits}
    finally:
        engine.close()


def test_nearly_the_same_pages_are_one_result(cache: Path) -> None:
    found = results(cache)
    assert found[f"{SEED}one"] == ("http://b.test/long/two",)
    assert "http://b.test/long/two" not in found
    assert {f"{SEED}{number}" for number in range(5)} <= set(found), "pages of the same title are not"
    assert f"duplicate of {SEED}one (near duplicate: " in inspected(cache, "http://b.test/long/two")


def test_merging_near_duplicates_can_be_switched_off(cache: Path) -> None:
    (cache / "periplus.toml").write_text("[index]\nfold_near = false\n")
    assert typed("index", "--home", cache).code == 0
    try:
        assert {f"{SEED}one", "http://b.test/long/two"} <= set(results(cache))
    finally:
        (cache / "periplus.toml").unlink()
        assert typed("index", "--home", cache).code == 0
