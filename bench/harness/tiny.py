"""Provides small synthetic data for `--tiny`: a run of a few seconds without downloads and peers.

The figures of such a run are not meaningful; it shows that the bench works. A test runs it with every change.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.web import Site, Web

_SITES = ("python", "postgresql", "glib")  # names of real sources; the synthetic pages have the same layout
_PAGES = 6  # of a site
_WORDS = ("anchor", "bay", "buoy", "chart", "coast", "harbour", "island", "keel", "mast", "port", "reef", "sail")
_PAGE = """<!doctype html>
<html lang="en"><head><title>{title}</title></head><body>
<div class="navheader navigation">{links}</div>
<div class="body"><h1>{title}</h1>{paragraphs}</div>
</body></html>
"""
_PDF = """%PDF-1.7
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>> >> >> endobj
4 0 obj <</Length {length}>> stream
{content}
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
trailer <</Root 1 0 R>>
"""


class _Shrink(argparse.Action):
    """Sets all sizes of a tiny run at once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser, values, option_string
        vars(namespace).update(self.const, tiny=True)


def add_tiny(parser: argparse.ArgumentParser, **sizes: Any) -> None:
    """Adds the option --tiny, which gives other options these values."""
    about = "measure small synthetic data for some seconds, to test the bench itself"
    parser.add_argument("--tiny", action=_Shrink, nargs=0, const=sizes, default=False, help=about)


@contextmanager
def cache_of(options: argparse.Namespace) -> Iterator[Path]:
    """The folder for downloads and runs; a tiny run gets an empty one, which is removed afterwards."""
    if not options.tiny:
        yield options.cache.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        yield Path(folder)


def made_web(folder: Path, host_pattern: str) -> Web:
    """Writes some sites whose pages link to each other, to a dead link and to another host."""
    return Web(tuple(_site(name, folder / "sites" / name, host_pattern.format(name=name)) for name in _SITES))


def _site(name: str, root: Path, host: str) -> Site:
    root.mkdir(parents=True)
    names = ["index.html", *(f"page-{number}.html" for number in range(1, _PAGES))]
    targets = [*names, "dead.html", "http://elsewhere.test/"]
    links = " ".join(f'<a href="{target}">{target}</a>' for target in targets)
    for page in names:
        paragraphs = "".join(f"<p>{made_text(f'{name} {page} {number}', 60)}</p>" for number in range(4))
        (root / page).write_text(_PAGE.format(title=f"{name} {page}", links=links, paragraphs=paragraphs))
    return Site(host, root, ("/index.html",), len(names))


def made_text(seed: str, words: int) -> str:
    """Words in an order that depends on the *seed* only."""
    return " ".join(random.Random(seed).choices(_WORDS, k=words)) + "."


def made_pdf() -> bytes:
    """One sheet with one line; PDFium needs no table of offsets."""
    content = f"BT /F 10 Tf 20 760 Td ({made_text('pdf', 12)}) Tj ET"
    return _PDF.format(length=len(content), content=content).encode("ascii")
