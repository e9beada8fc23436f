"""Finite sites that look like traps, because their pages are short and similar.

Every page of these sites is worth finding. Each site is reached the way real ones are: from an index, from paged lists,
or only from page to page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import prose
from .page import ComputedPages, Link, Page, Site


def _words(text: str) -> list[str]:
    return text.split()


_VERBS = _words("add bind copy drop edit fill find hash join keep list load lock mask move name open pack pick pull")
_NOUNS = _words("array block cache chunk class count entry event field frame graph group index label level limit order")
_KINDS = _words("bytes error float index items lines local mixed pairs range ratio share slice state table total value")
_COLOURS = _words("amber black blue brown coral cream green grey ivory olive pink purple red rose sand teal white")
_STUFFS = _words("canvas cotton denim felt jersey leather linen mesh nylon satin silk suede tweed velvet wool")
_THINGS = _words(
    "apron belt blouse boots cap coat dress gloves hat jacket kilt pants robe scarf shawl shirt skirt socks tie vest"
)
_TEMPLATE = prose.text("the template that all pages of a site share")[:1_800]  # some 300 words


def function_reference(host: str, functions: int = 1_000) -> Site:
    """An API reference: one page of one template a function; few words are its own, and it has used them elsewhere."""
    names = [_function(number) for number in range(functions)]

    def compute(path: str) -> Page | None:
        if path == "/":
            return Page("Manual", prose.text(host), ["/reference/api/index.html"], lang="en")
        if path == "/reference/api/index.html":
            return Page("API reference", "All functions.", [(_api(name), name) for name in names], lang="en")
        name = path.removeprefix("/reference/api/").removesuffix(".html")
        if name not in known:
            return None
        number = known[name]
        verb, noun, kind = name.split("_")
        text = f"{name}({noun}, {kind})\n\nWill {verb} the {noun} of a {kind}.\n\n{_TEMPLATE}"
        around = [names[(number + step) % functions] for step in (-1, 1, 17, 29)]
        return Page(f"{name} - Manual", text, [(_api(one), one) for one in around], lang="en")

    known = {name: number for number, name in enumerate(names)}
    return Site(host, ComputedPages(compute, lambda: ["/", "/reference/api/index.html", *map(_api, names)]))


def numbered_forum(host: str, threads: int = 1_000) -> Site:
    """A forum: `thread.php?t=17`, listed fifty a page; most threads are a question of a few common words."""

    def compute(path: str) -> Page | None:
        for page in range(threads // 50):
            if path == _listing("/", page):
                return _list_page("Forum", "/", page, threads // 50, map(_thread, _on(page)), _question)
        if not path.startswith("/thread.php?t="):
            return None
        number = int(path.removeprefix("/thread.php?t="))
        if number >= threads:
            return None
        reply = f"Thank you, the {_pick(_NOUNS, number, 7)} did it."
        similar = [_thread((number + step) % threads) for step in (3, 5, 11, 23)]
        return Page(
            f"{_question(number)} - Forum", f"{_question(number)}\n\n{reply}\n\n{_TEMPLATE}", similar, lang="en"
        )

    lists = [_listing("/", page) for page in range(threads // 50)]
    return Site(host, ComputedPages(compute, lambda: [*lists, *map(_thread, range(threads))]))


def product_shop(host: str, products: int = 5_000) -> Site:
    """A shop: `/product/17`, listed fifty a page; the names are the same few words in other combinations."""

    def compute(path: str) -> Page | None:
        for page in range(products // 50):
            if path == _listing("/", page):
                return _list_page("Shop", "/", page, products // 50, map(_product, _on(page)), _garment)
        number = int(path.removeprefix("/product/")) if path.startswith("/product/") else products
        if number >= products:
            return None
        related = [_product((number + step) % products) for step in (1, 50, 333, 1_201)]
        text = f"{_garment(number)}\n\n{number % 90 + 10}.95 in stock: {number % 7}\n\n{_TEMPLATE}"
        return Page(f"{_garment(number)} | Shop", text, related, lang="en")

    lists = [_listing("/", page) for page in range(products // 50)]
    return Site(host, ComputedPages(compute, lambda: [*lists, *map(_product, range(products))]))


def short_pages(host: str, pages: int) -> Site:
    """Pages `/p17.html` in a row, each with the link to the next one, of a dozen words of which a few differ."""
    return _in_a_row(host, pages, "Notes", lambda number: f"Notes about the {_garment(number).lower()} of this week.")


def measurements(host: str, pages: int) -> Site:
    """Pages that differ in nothing but numbers, all listed by one page that has something to say."""
    paths = [f"/station/{number}" for number in range(pages)]
    found = {
        path: Page("Station", f"Station {number}: {number * 37 % 911} mm of rain.\n\n{_TEMPLATE}", lang="en")
        for number, path in enumerate(paths)
    }
    return Site(host, {"/": Page("Weather", prose.text(host), paths, lang="en")} | found)


def _in_a_row(host: str, pages: int, title: str, text: Callable[[int], str]) -> Site:
    paths = ["/", *(f"/p{number}.html" for number in range(1, pages))]
    links = [[path] for path in paths[1:]] + [[]]
    found = {path: Page(title, text(number), links[number], lang="en") for number, path in enumerate(paths)}
    return Site(host, found)


def _list_page(title: str, where: str, page: int, pages: int, paths: Iterable[str], name: Callable[[int], str]) -> Page:
    links: list[Link] = [(path, name(number)) for path, number in zip(paths, _on(page), strict=True)]
    links += [(_listing(where, page + 1), "More")] * (page + 1 < pages)
    return Page(f"{title}, page {page + 1}", "", links, lang="en")


def _on(page: int) -> range:
    return range(50 * page, 50 * page + 50)


def _listing(where: str, page: int) -> str:
    return f"{where}?page={page + 1}" if page else where


def _api(name: str) -> str:
    return f"/reference/api/{name}.html"


def _function(number: int) -> str:
    return f"{_pick(_VERBS, number)}_{_pick(_NOUNS, number, 21)}_{_pick(_KINDS, number, 357)}"


def _thread(number: int) -> str:
    return f"/thread.php?t={number}"


def _question(number: int) -> str:
    return f"How to {_pick(_VERBS, number)} the {_pick(_KINDS, number, 20)} {_pick(_NOUNS, number, 340)}?"


def _product(number: int) -> str:
    return f"/product/{number}"


def _garment(number: int) -> str:
    return f"{_pick(_COLOURS, number)} {_pick(_STUFFS, number, 17)} {_pick(_THINGS, number, 255)}".capitalize()


def _pick(words: list[str], number: int, step: int = 1) -> str:
    return words[number // step % len(words)]
