"""periplus inspect: everything known about one thing."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Annotated, Any

import typer

from periplus.cli.hosts import host_rows, stranger_line
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import duration, moment, print_json, print_table
from periplus.config import load
from periplus.inspector.copies import copies_of
from periplus.inspector.host_report import host_report
from periplus.inspector.quality import quality_of
from periplus.inspector.rank import rank_of
from periplus.inspector.url_report import url_history
from periplus.inspector.versions import version_body
from periplus.store.catalog import Catalog
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Everything known about one URL or host, and why."""


@app.command()
def url(
    address: Annotated[str, typer.Argument(metavar="URL", help="The URL to explain.")],
    home: Home = DEFAULT_HOME,
    version: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Write version N of the page to stdout, as it was archived.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Every decision, attempt, version, robots line and archive record of one URL; also why it is not here."""
    settings = load(home).settings
    collection = open_collection(home)
    with closing(Catalog(collection.catalog)) as catalog:
        found = url_history(catalog, settings, address)
        if version is not None:
            body = version_body(collection, catalog, found["url"], version)
            sys.stdout.buffer.write(body)
            return
        found |= copies_of(catalog, collection, found["url"])
        found["quality"] = quality_of(catalog, collection, settings, found["url"])
    found["rank"] = rank_of(collection, found["url"])
    if as_json:
        print_json(found)
    else:
        print_table(
            [
                *_verdict_rows(found),
                *_plan_rows(found["plan"]),
                *_fetch_rows(found["fetches"]),
                *_version_rows(found["versions"]),
                *_rank_rows(found["rank"]),
            ]
        )


@app.command()
def host(
    name: Annotated[str, typer.Argument(metavar="HOST", help="The host to explain; a URL of it will do.")],
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """How a host is treated and why: its delay, robots.txt, queue, errors, refusals and caps."""
    settings = load(home).settings
    with closing(Catalog(open_collection(home).catalog)) as catalog:
        found = host_report(catalog, settings, name)
    if as_json:
        print_json(found)
    elif found["known"]:
        print_table(host_rows(found))
    else:
        typer.echo(stranger_line(found))


def _verdict_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    reason = f"{found['reason']} ({found['detail']})" if found["detail"] else found["reason"]
    rows = [("url", found["url"]), ("id", found["url_id"]), ("state", found["state"]), ("reason", reason)]
    if found["known"]:
        via = found["via"] or "the command line"
        rows.append(
            ("admitted", f"as {found['admitted']} at depth {found['depth']}, by {via}, {moment(found['first_seen'])}")
        )
    elif found["via"]:
        rows.append(("linked from", found["via"]))
    if (robots := found["robots"]) is not None:
        word = "allows" if robots["allowed"] else "forbids"
        line = f"line {robots['line_number']}: {robots['line']}" if robots["line"] else "no rule matches"
        rows.append(("robots.txt", f"{word} it ({line}; fetched {moment(robots['fetched_at'])})"))
    if (policy := found["host_policy"]) is not None and policy["delay"] is not None:
        why = f" ({policy['why']})" if policy["why"] else ""
        rows.append(("host", f"{policy['delay']:g} s between requests{why}, {policy['failures']} errors in a row"))
    if (left_out := found["left_out"]) is not None:
        detail = f" ({left_out['detail']})" if left_out["detail"] else ""
        rows.append(("index", f"left out: {left_out['reason']}{detail}"))
    return rows + _copy_rows(found)


def _copy_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if (of := found["copy_of"]) is not None:
        how = "byte by byte" if of["exact"] else f"nearly: {of['bits']} of 64 bits differ"
        rows.append(("copy of", f"{of['url']} ({how})"))
    if found["copies"]:
        rows.append(("copied by", ", ".join(found["copies"])))
    if (quality := found["quality"]) is not None:
        parts = ", ".join(f"{name} {part:.2f}" for name, part in quality.items() if name != "score")
        rows.append(("quality", f"{quality['score']:.2f}: {parts}"))
    return rows


def _plan_rows(plan: dict[str, Any] | None) -> list[tuple[str, str]]:
    if plan is None:
        return []
    rows = [("asked", f"{plan['class']}: every {duration(plan['interval'])}, last {moment(plan['last_visit'])}")]
    return [*rows, ("due again", moment(plan["next_visit"]))] if plan["next_visit"] else rows


def _version_rows(versions: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (
            f"version {one['version']}",
            f"{one['bytes']:,} bytes, seen {moment(one['first'])}"
            + (f" to {moment(one['last'])}, {one['visits']} times" if one["visits"] > 1 else ""),
        )
        for one in versions
    ]


def _fetch_rows(fetches: list[dict[str, Any]]) -> list[tuple[str, str]]:
    rows = []
    for fetch in fetches:
        detail = f" ({fetch['detail']})" if fetch["detail"] else ""
        text = f"{fetch['status'] or 'no answer'}: {fetch['verdict']}, {fetch['reason']}{detail}"
        if fetch["archive"]:
            text += f"; {fetch['bytes']:,} bytes in {fetch['archive']['file']} at {fetch['archive']['offset']}"
        rows.append((moment(fetch["at"]), text))
    return rows


def _rank_rows(rank: dict[str, Any] | None) -> list[tuple[str, str]]:
    if rank is None:
        return []
    place = f"higher than {rank['percentile']:.1f} % of the known pages, by {rank['in_links']:,} links"
    rows = [("rank", f"{rank['rank']:.3e}, number {rank['place']:,}: {place}")]
    rows += [("  link from", f"{link['url']} gives {link['mass']:.1e}") for link in rank["strongest"][:5]]
    if texts := rank["anchors"]["texts"]:
        rows.append(("called", ", ".join(texts[:5])))
    return rows
