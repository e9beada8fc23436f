"""A site whose owner can judge results and save weights, and the forms that the owner sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from periplus.config import Serving
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.store.collection import create_collection
from periplus.web.engine_port import Engine
from periplus.web.owner import OwnerFiles
from web.engines import FakeEngine
from web.serving import Answer, Site, searching

SECRET = b"of this test"


def owner_files(home: Path) -> OwnerFiles:
    """The files of a new collection; nothing is reloaded."""
    return OwnerFiles(OwnJudgements(create_collection(home)), home, lambda: None, SECRET)


@contextmanager
def owned(
    files: OwnerFiles, engine: Engine | None = None, settings: Serving | None = None, *, is_public: bool = False
) -> Iterator[Site]:
    """Serves a site with an owner."""
    with searching(engine or FakeEngine(), settings, owner=files, is_public=is_public) as site:
        yield site


def token_of(site: Site, path: str = "/search?q=harbour") -> str:
    """The token in the forms of a page; empty when the page has none."""
    found = site.get(path).page.select("input[name=token]")
    return str(found[0].attrs["value"]) if found else ""


def send(site: Site, path: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
    """Sends a form as a browser on this machine does; *headers* replace some of its own."""
    own = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    sent = {name: value for name, value in {**own, **(headers or {})}.items() if value}
    return site.get(path, sent, method="POST", body=urlencode(form).encode())
