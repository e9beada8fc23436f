"""periplus inspect: shows everything known about one URL, host or word."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from periplus.cli.fleet_index import collection_with
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, duration, moment, plural, print_json, print_table, printable
from periplus.config import load
from periplus.inspector.host_report import host_report
from periplus.inspector.url_report import url_history, url_report
from periplus.inspector.versions import version_body
from periplus.inspector.word_report import term_report, word_report
from periplus.model import NOTHING_NEW, Reason
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection

Rows = list[tuple[str, str]]

_RULES_SHOWN = 20
_WORDS_SHOWN = 20
_NOTHING_NEW_LINE = "fetched; adds nothing new to this host"


def unknown_host_line(found: dict[str, Any]) -> str:
    """One line about a host that was never crawled."""
    scope, refused = found["scope"], found["refused_links"]
    verdict = "it is in scope" if scope["admitted"] else f"{scope['reason']} ({scope['detail']})"
    links = f"refused links to it: {by_count(refused)}" if refused else "no crawled page links to it"
    return printable(f"{found['host']} is not in this collection: {verdict}; {links}")


def host_rows(found: dict[str, Any]) -> Rows:
    """Table rows about a host."""
    scope, urls, cap = found["scope"], found["urls"], found["cap"]
    states = ", ".join(f"{urls[state]:,} {state}" for state in ("done", "queued", "refused", "failed"))
    pages = f"{cap['domain']} has {cap['urls']:,} of {cap['urls_allowed']:,} URLs"
    hosts = f"{cap['hosts']:,} of {cap['hosts_allowed']:,} hosts"
    return [
        ("host", found["host"]),
        ("scope", "in scope" if scope["admitted"] else f"out of scope: {scope['reason']} ({scope['detail']})"),
        *_politeness_rows(found["politeness"]),
        *(row for robots in found["robots"] for row in _robots_rows(robots)),
        ("URLs", f"{urls['known']:,} known: {states}"),
        *(("  next" if number == 0 else "", _queued(item)) for number, item in enumerate(found["queue"])),
        ("errors", by_count(found["errors"])),
        ("refused", by_count(found["refused"])),
        ("links refused", by_count(found["refused_links"])),
        ("caps", f"{pages} and {hosts}"),
        *_trap_rows(found["traps"]),
        *_quality_rows(found["quality"]),
    ]


def _quality_rows(quality: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if quality["pages"]:
        parts = ", ".join(f"{name} {quality[name]:.2f}" for name in ("text", "length", "links", "title", "language"))
        old = f"nothing new on {1 - quality['news']:.0%} of {plural(quality['pages'], 'page')}"
        yield "quality", f"{quality['score']:.2f}: {parts}, {old}"


def _trap_rows(traps: dict[str, Any]) -> Iterator[tuple[str, str]]:
    patterns = traps["patterns"]
    if patterns or traps["saved"]:
        yield (
            "traps",
            f"{plural(traps['saved'], 'look-alike URL')} skipped by {plural(len(patterns), 'learned pattern')}",
        )
    for one in patterns[:_RULES_SHOWN]:
        figures = f"nothing new on {one['wasted']:,} of {one['fetched']:,} pages, {plural(one['saved'], 'URL')} skipped"
        yield "", f"{one['pattern']} ({figures})"


def _politeness_rows(politeness: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "delay", f"{politeness['delay']:g} s ({politeness['why']})"
    at = politeness["next_fetch"]
    soon = at is None or at <= time.time()
    yield "next fetch", "in the next crawl" if soon else f"not before {moment(at)}"
    if politeness["failures"]:
        yield "failures", f"{politeness['failures']} in a row"


def _robots_rows(robots: dict[str, Any]) -> Iterator[tuple[str, str]]:
    status = robots["status"] or "no response"
    yield "robots.txt", f"{robots['origin']}: {status}, fetched {moment(robots['fetched_at'])}; {robots['otherwise']}"
    if robots["crawl_delay"] is not None:
        yield "  crawl-delay", f"{robots['crawl_delay']:g} s"
    rules = robots["rules"]
    for rule in rules[:_RULES_SHOWN]:
        yield f"  line {rule['line_number']}", rule["line"]
    if len(rules) > _RULES_SHOWN:
        yield "", f"and {len(rules) - _RULES_SHOWN:,} more"
    for sitemap in robots["sitemaps"][:_RULES_SHOWN]:
        yield "  sitemap", sitemap


def _queued(item: dict[str, Any]) -> str:
    return f"{item['url']} (due {moment(item['due'])})" if item["due"] else item["url"]


class InspectGroup(TyperGroup):
    """`periplus inspect URL` without the name of a subcommand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Chooses the subcommand by what the user typed: a URL, a host, or a word."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [subject_kind(args[0]), *args]
        return super().resolve_command(ctx, args)


def subject_kind(typed: str) -> str:
    """The subcommand for a text: `url` if it has a slash, `host` if it has a dot, otherwise `term`."""
    if "/" in typed:
        return "url"
    return "host" if "." in typed.strip(".") or typed == "localhost" else "term"


app = typer.Typer(cls=InspectGroup, add_completion=False, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Show everything known about one URL, host or word, and why.

    `periplus inspect TEXT` chooses the subcommand: `url` for a text with a slash, `host` with a dot, else `term`.
    """


@app.command()
def url(
    address: Annotated[str, typer.Argument(metavar="URL", help="The URL to explain.")],
    home: Home = DEFAULT_HOME,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Write the archived body of version N to stdout.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the decisions, fetches, versions, robots.txt rule, rank and words of one URL, or why it was not crawled."""
    settings = load(home).settings
    collection = open_collection(home)
    with closing(open_catalog(collection)) as catalog:
        if version is not None:
            url = url_history(catalog, settings, address)["url"]
            body = version_body(collection, catalog, url, version)
            sys.stdout.buffer.write(body)
            return
        found = url_report(collection, settings, catalog, address)
    if as_json:
        print_json(found)
    else:
        print_table(
            [
                *_verdict_rows(found),
                ("verdict", found["verdict"]["sentence"]),
                *_plan_rows(found["plan"]),
                *_fetch_rows(found["fetches"]),
                *_version_rows(found["versions"]),
                *_rank_rows(found["rank"]),
                *_word_rows(found["words"]),
            ]
        )


@app.command()
def host(
    name: Annotated[str, typer.Argument(metavar="HOST", help="The host to explain, or a URL on it.")],
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Show the delay, robots.txt, queue, errors, refusals and caps of a host, with reasons."""
    settings = load(home).settings
    with closing(open_catalog(open_collection(home))) as catalog:
        found = host_report(catalog, settings, name)
    if as_json:
        print_json(found)
    elif found["known"]:
        print_table(host_rows(found))
    else:
        typer.echo(unknown_host_line(found))


@app.command()
def term(
    word: Annotated[str, typer.Argument(metavar="WORD", help="The word to explain.")],
    home: Home = DEFAULT_HOME,
    language: Annotated[
        str, typer.Option(metavar="CODE", help="Language whose stems count as the same word, for example `en`.")
    ] = "en",
    size: Annotated[int, typer.Option(min=0, metavar="N", help="Number of best pages to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the frequency of a word in the index, by field, similar words, and the best pages by BM25."""
    found = term_report(collection_with(home, "index"), word, language, size)
    if as_json:
        print_json(found)
    else:
        print_table(term_rows(found))


@app.command("word")
def word_command(
    text: Annotated[str, typer.Argument(metavar="WORD", help="The word to explain.")],
    home: Home = DEFAULT_HOME,
    size: Annotated[int, typer.Option(min=0, metavar="N", help="Number of neighbours and spellings to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the neighbours of a word by word vectors, its frequency and language, and words with similar spelling."""
    found = word_report(collection_with(home, "index"), text, size)
    if as_json:
        print_json(found)
    else:
        print_table(word_rows(found))


def word_rows(found: dict[str, Any]) -> Rows:
    """Table rows about the neighbours of a word."""
    pages = f"{found['documents']:,} of {plural(found['of_documents'], 'page')}"
    missing = "none: a stop word, a number or a rare word" if found["documents"] else "none: no page has this word"
    return [
        ("word", f"{found['word']} ({found['language']})" if found["language"] else found["word"]),
        ("pages", f"{pages}: {by_count(found['counts'])}" if found["counts"] else pages),
        *([] if found["has_vector"] else [("neighbours", missing)]),
        *_listed("neighbours", [_with_pages(one, f"cosine {one['cosine']:.2f}") for one in found["neighbours"]]),
        *_listed("spellings", [_with_pages(one, f"{one['edits']:.2f} edits") for one in found["spellings"]]),
    ]


def _with_pages(one: dict[str, Any], figure: str) -> str:
    return f"{one['word']}: {figure}, {plural(one['documents'], 'page')}"


def _listed(label: str, lines: list[str]) -> Rows:
    return [(label if place == 0 else "", line) for place, line in enumerate(lines)]


def term_rows(found: dict[str, Any]) -> Rows:
    """Table rows about a word."""
    frequency = f"{found['documents']:,} of {plural(found['of_documents'], 'page')}, idf {found['idf']:.2f}"
    similar = ", ".join(f"{one['word']} {one['cosine']:.2f}" for one in found["similar"])
    return [
        ("word", found["word"]),
        ("term", f"{found['term']} ({found['language']})"),
        ("pages", frequency),
        *(
            (f"  {one['word']}", f"{plural(one['documents'], 'page')}: {by_count(one['counts'])}")
            for one in found["words"][:_WORDS_SHOWN]
        ),
        *([("similar", similar)] if similar else []),
        *((f"{page['score']:.2f}", f"{page['url']}  {page['title']}") for page in found["top"]),
    ]


def _verdict_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    reason = _reason(found["reason"], found["detail"])
    rows = [("url", found["url"]), ("id", found["url_id"]), ("state", found["state"]), ("reason", reason)]
    if found["known"]:
        via = found["via"] or "the command line"
        rows.append(
            ("found", f"as {found['admitted']} at depth {found['depth']}, via {via}, {moment(found['first_seen'])}")
        )
    elif found["via"]:
        rows.append(("linked from", found["via"]))
    if (robots := found["robots"]) is not None:
        word = "allowed" if robots["allowed"] else "disallowed"
        line = f"line {robots['line_number']}: {robots['line']}" if robots["line"] else "no rule matches"
        rows.append(("robots.txt", f"{word} ({line}; fetched {moment(robots['fetched_at'])})"))
    if (policy := found["host_policy"]) is not None and policy["delay"] is not None:
        why = f" ({policy['why']})" if policy["why"] else ""
        failures = f"{plural(policy['failures'], 'error')} in a row"
        rows.append(("host", f"{policy['delay']:g} s between requests{why}, {failures}"))
    if (left_out := found["left_out"]) is not None:
        detail = f" ({left_out['detail']})" if left_out["detail"] else ""
        rows.append(("index", f"left out: {left_out['reason']}{detail}"))
    return rows + _copy_rows(found)


def _copy_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if (of := found["copy_of"]) is not None:
        how = "identical" if of["exact"] else f"near duplicate: {plural(of['bits'], 'bit')} of 64 differ"
        rows.append(("duplicate of", f"{of['url']} ({how})"))
    if found["copies"]:
        rows.append(("duplicates", ", ".join(found["copies"])))
    if (quality := found["quality"]) is not None:
        parts = ", ".join(f"{name} {part:.2f}" for name, part in quality.items() if name != "score")
        rows.append(("quality", f"{quality['score']:.2f}: {parts}"))
    return rows


def _plan_rows(plan: dict[str, Any] | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    rows = [("recrawl", f"{plan['class']}: every {duration(plan['interval'])}, last {moment(plan['last_visit'])}")]
    return [*rows, ("due", moment(plan["next_visit"]))] if plan["next_visit"] else rows


def _version_rows(versions: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (
            f"version {one['version']}",
            f"{plural(one['bytes'], 'byte')}, seen {moment(one['first'])}"
            + (f" to {moment(one['last'])}, {one['visits']} times" if one["visits"] > 1 else ""),
        )
        for one in versions
    ]


def _fetch_rows(fetches: list[dict[str, Any]]) -> list[tuple[str, str]]:
    rows = []
    for fetch in fetches:
        text = f"{fetch['status'] or 'no response'}: {_fetch_result(fetch)}"
        if fetch["archive"]:
            archive = fetch["archive"]
            text += f"; {plural(fetch['bytes'], 'byte')} in {archive['file']} at {archive['offset']}"
        rows.append((moment(fetch["at"]), text))
    return rows


def _fetch_result(fetch: dict[str, Any]) -> str:
    reason = _reason(fetch["reason"], fetch["detail"])
    return reason if reason == _NOTHING_NEW_LINE else f"{fetch['verdict']}, {reason}"


def _reason(reason: str, detail: str) -> str:
    """A reason code with its detail."""
    if (reason, detail) == (Reason.OK, NOTHING_NEW):
        return _NOTHING_NEW_LINE
    return f"{reason} ({detail})" if detail else reason


def _rank_rows(rank: dict[str, Any] | None) -> list[tuple[str, str]]:
    if rank is None:
        return []
    place = f"above {rank['percentile']:.1f} % of the known pages, {plural(rank['in_links'], 'in-link')}"
    rows = [("rank", f"{rank['rank']:.3e}, number {rank['place']:,}: {place}")]
    rows += [("  link from", f"{link['url']} adds {link['mass']:.1e}") for link in rank["strongest"][:5]]
    if texts := rank["anchors"]["texts"]:
        rows.append(("anchor texts", ", ".join(texts[:5])))
    return rows


def _word_rows(words: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    for field, one in (words or {}).items():
        if one["length"]:
            often = ", ".join(f"{word} {count}" if count > 1 else word for word, count in one["words"].items())
            more = one["different"] - len(one["words"])
            yield f"words: {field}", f"{one['length']:,}: {often}" + (f" and {more:,} more" if more else "")
