"""periplus status: shows the size of a collection and the result of its last crawl."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, moment, plural, print_json, print_table, size, summary_rows
from periplus.control.state import crawl_state
from periplus.inspector.runs import one_run, overview, shares
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)

_PENDING_SHOWN = 10


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    run: Annotated[
        int | None, typer.Option(metavar="ID", help="Show one run instead; `periplus runs` lists the ids.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the URLs, pages and index of a collection, the pages that are due, its last crawl, and the next step."""
    collection = open_collection(home)
    with closing(open_catalog(collection)) as catalog:
        found = overview(collection, catalog) if run is None else one_run(collection, catalog, run)
    if run is not None:
        _show(found, _run_rows, as_json=as_json)
        return
    found["crawl"] = crawl_state(collection).shown()
    if address := _live_site(found["crawl"]):
        found["next"] = f"Search at {address}; `periplus up` is running and indexes new pages."
    _show(found, _collection_rows, as_json=as_json)


def _show(found: dict[str, Any], rows: Callable[[dict[str, Any]], list[tuple[str, str]]], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print_table(rows(found))


def _collection_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    urls, segments, run = found["urls"], found["segments"], found["last_run"]
    states = ", ".join(f"{urls[state]:,} {state}" for state in ("done", "queued", "refused", "failed"))
    pages, links = plural(segments["pages"], "page"), plural(segments["links"], "link")
    tables = f"{pages} and {links} in {plural(segments['files'], 'file')}"
    due = {name: number for name, number in found["due"].items() if number}
    rows = [
        ("collection", found["home"]),
        ("seeds", " ".join(found["seeds"][:5]) + (" ..." if len(found["seeds"]) > 5 else "")),
        ("URLs", f"{urls['known']:,} known: {states}"),
        ("pages", f"{urls['fetched']:,} fetched, {size(urls['bytes'])}"),
        ("due now", by_count(due) if due else "0"),
        ("archive", f"{plural(found['archive']['files'], 'file')}, {size(found['archive']['bytes'])}"),
        ("segments", f"{tables}, {size(segments['bytes'])}"),
        ("links refused", by_count(found["refused_links"])),
    ]
    if run is not None:
        rows.append(("last run", f"{run['run_id']}: {run['outcome']}, started {moment(run['started'])}"))
    rows += [(kind, _generation(found[kind])) for kind in ("ranks", "index")]
    return [*rows, *_live_rows(found["crawl"]), ("next", found["next"])]


def _live_rows(crawl: dict[str, Any]) -> list[tuple[str, str]]:
    """The processes that run now, or were killed, and the commands that wait for them."""
    rows = [("running", _process(one)) for one in crawl["processes"]]
    rows += [("node", _node(one)) for one in crawl["nodes"]]
    if crawl["paused"]:
        rows.append(("paused", "yes: `periplus resume` continues the crawl"))
    if crawl["pending"]:
        rows.append(("pending", ", ".join(one["action"] for one in crawl["pending"][:_PENDING_SHOWN])))
    return rows


def _live_site(crawl: dict[str, Any]) -> str:
    """The address of the site of a running `periplus up`; empty when none is running."""
    alive = {one["role"]: one["figures"] for one in crawl["processes"] if one["is_alive"]}
    return str(alive["serve"].get("address", "")) if "index" in alive and "serve" in alive else ""


def _process(one: dict[str, Any]) -> str:
    name = f"{one['role']} {one['number']} on {one['node']}, process {one['pid']}"
    if not one["is_alive"]:
        return f"{name}: killed or not reporting since {moment(one['seen'])}"
    figures = one["figures"]
    if one["role"] != "crawl":
        return f"{name}: {one['state']}"
    done = f"{plural(figures['fetched'], 'page')}, {figures['pages_per_second']:.1f} pages/s"
    return f"{name}: {one['state']}, {done}, {plural(figures['under_way'], 'active request')}"


def _node(one: dict[str, Any]) -> str:
    files = plural(one["waiting_files"], "archive file")
    waiting = f", {files} ({size(one['waiting_bytes'])}) not uploaded" if one["waiting_files"] else ""
    if not one["is_live"]:
        return f"{one['name']}: silent since {moment(one['seen'])}, other nodes crawl its hosts{waiting}"
    workers, shares = plural(one["workers"], "worker"), f"{one['shares']:,} of 1,024 shares"
    return f"{one['name']}: {workers}, {shares}, joined {moment(one['joined'])}{waiting}"


def _generation(state: dict[str, Any] | None) -> str:
    if state is None:
        return "none"
    newer = f", {plural(state['newer_pages'], 'newer page')}" if state["newer_pages"] else ""
    pages = f"{state['pages'] or 0:,} pages, built {moment(state['built'])}{newer}"
    return f"generation {state['generation']}: {state['problem'] or pages}"


def _run_rows(run: dict[str, Any]) -> list[tuple[str, str]]:
    arguments, figures = run["arguments"], run["summary"]
    rows = [
        ("run", f"{run['run_id']} ({run['outcome']})"),
        ("started", moment(run["started"])),
        ("ended", moment(run["ended"])),
        *((f"option {name}", _text(value)) for name, value in arguments.items() if value not in (None, [], {})),
    ]
    if not figures:
        return [*rows, ("figures", "none: the run ended before its first commit")]
    timing = figures.get("timing", {})
    steps = [(f"in {step}", f"{timing[step]:.1f} s, {100 * share:.1f} %") for step, share in shares(timing).items()]
    return [*rows, *summary_rows(figures), *steps]


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_text(given)}" for name, given in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
