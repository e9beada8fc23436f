"""Measures the speed of parsing pages and PDFs, and the F1 score of main text extraction."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness import packages, web
from harness.report import report
from harness.tiny import add_tiny, cache_of, made_pdf, made_web
from parsing import costs, truth
from parsing.score import score
from periplus import __version__
from periplus.index.documents.templates import PAGES_COMPARED, Templates
from periplus.model import Response
from periplus.parse.formats.pdf import read_pdf
from periplus.parse.page import PageParser
from periplus.url import Canonicalizer

CACHE = Path(__file__).with_name(".cache")
PDFS = {
    "developers-reference": "usr/share/developers-reference/developers-reference.pdf",
    "libtasn1-doc": "usr/share/doc/libtasn1-doc/libtasn1.pdf",
}


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--pages", type=int, default=900, help="pages to read, of all sites alike (%(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=3, help="times each step is measured; the best counts (%(default)s)"
    )
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    add_tiny(parser, pages=6, rounds=1)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache:
        return measured(options, cache)


def measured(options: argparse.Namespace, cache: Path) -> dict[str, Any]:
    site_web = made_web(cache, "{name}.test") if options.tiny else web.prepare(cache, "{name}.test")
    answers = costs.responses(_sample(site_web, options.pages))
    steps = best([costs.by_step(answers) for _ in range(options.rounds)])
    whole = best([costs.whole(answers) for _ in range(options.rounds)])
    marked = {} if options.tiny else _marked(cache)
    sets = {**marked, "docs": truth.documentation(site_web)}
    found = {name: _main_texts(pages) for name, pages in sets.items() if pages}
    main_text = {name: score(sets[name], texts) for name, texts in found.items()}
    templates = Templates(_samples(site_web))
    stripped = [templates.strip(page.site, text) for page, text in zip(sets["docs"], found["docs"], strict=True)]
    main_text["docs_indexed"] = score(sets["docs"], stripped)
    return {
        "bench": "parse",
        "version": __version__,
        "pages": len(answers),
        "kb_per_page": round(sum(len(answer.body) for answer in answers) / len(answers) / 1e3, 1),
        "ms_per_page": whole["read"],
        "ms_per_page_skimmed": whole["skim"],
        "ms_by_step": steps,
        "main_text_f1": next(iter(main_text.values()))["f1"],
        "main_text_truth": next(iter(main_text)),
        "main_text_f1_site": main_text["docs_indexed"]["f1"],
        "main_text": main_text,
        **_pdf([made_pdf()] if options.tiny else _pdfs(cache), options.rounds),
    }


def _marked(cache: Path) -> dict[str, list[truth.Marked]]:
    """The sets that people labelled, and the halves of `passages`: fitted on, and held out."""
    passages = truth.passages(cache)
    fit, held_out = truth.halves(passages)
    return {
        "articles": truth.articles(cache),
        "passages": passages,
        "passages_fit": fit,
        "passages_held_out": held_out,
    }


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The minimum of each figure, because disturbances only add time."""
    return {name: min(one[name] for one in rounds) for name in rounds[0]}


def _sample(pages: web.Web, wanted: int) -> list[tuple[str, Path]]:
    found = []
    for site in pages.sites:
        files = sorted(site.root.rglob("*.html"))
        share = max(wanted // len(pages.sites), 1)
        chosen = files[:: max(len(files) // share, 1)][:share]
        found += [(f"http://{site.host}/{file.relative_to(site.root)}", file) for file in chosen]
    return found


def _samples(pages: web.Web) -> Iterator[tuple[str, str]]:
    """Site and text of the pages from which the index learns the template of a site."""
    parser = PageParser(Canonicalizer(), links_per_page=costs.LINKS)
    for site in pages.sites:
        bodies = {sha256(body).digest(): body for file in site.root.rglob("*.html") if (body := file.read_bytes())}
        for _, body in sorted(bodies.items())[:PAGES_COMPARED]:
            answer = Response(f"http://{site.host}/", 0.0, status=200, headers={"content-type": "text/html"}, body=body)
            yield site.host.split(".")[0], parser.parse(answer).text


def _main_texts(pages: list[truth.Marked]) -> list[str]:
    parser = PageParser(Canonicalizer(), links_per_page=costs.LINKS)
    headers = {"content-type": "text/html; charset=utf-8"}
    answers = (
        Response(f"http://{number}.test/", 0.0, status=200, headers=headers, body=page.html.encode())
        for number, page in enumerate(pages)
    )
    return [parser.parse(answer).main_text for answer in answers]


def _pdfs(cache: Path) -> list[bytes]:
    folders = packages.unpack(list(PDFS), cache)
    return [(folders[name] / path).read_bytes() for name, path in PDFS.items()]


def _pdf(bodies: list[bytes], rounds: int) -> dict[str, Any]:
    logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns about every bookmark that is left out
    seconds, pages = [], 0
    for _ in range(rounds):
        started = time.process_time()
        pages = sum(read_pdf(body).pages for body in bodies)
        seconds.append(time.process_time() - started)
    return {"pdf_pages": pages, "ms_per_pdf_page": round(min(seconds) * 1e3 / pages, 3)}


def table(result: dict[str, Any]) -> str:
    """The main figures as a table."""
    size = f"{result['pages']} pages of {result['kb_per_page']} kB"
    lines = [
        f"{'full parse':16}{result['ms_per_page']:8.3f} ms a page ({size})",
        f"{'links only':16}{result['ms_per_page_skimmed']:8.3f} ms a page",
        *(f"  {name:14}{value:8.3f} ms" for name, value in result["ms_by_step"].items()),
        f"{'PDF':16}{result['ms_per_pdf_page']:8.3f} ms a page ({result['pdf_pages']} pages)",
    ]
    for name, found in result["main_text"].items():
        shares = f"precision {found['precision']:.3f}, recall {found['recall']:.3f}"
        lines.append(f"main text of {found['pages']} {name}: F1 {found['f1']:.3f} ({shares})")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench, table))
