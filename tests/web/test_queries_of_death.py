"""No query stops the site: each gets an answer or an error with a sentence, and the next one too."""

from __future__ import annotations

import http.client
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from search.hostile_queries import PARTS, SHAPES
from search.library import Doc, library
from web.serving import Site, searching

QUERIES, CLIENTS = 10_000, 4
SHORTENED = 30_000  # characters of a URL; longer ones are refused unread
EXPECTED = {200, 400, 414}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    docs = [
        Doc(f"http://{word}.test/", word, f"the {word} of a C++ page", language=word) for word in ("en", "de", "zh")
    ]
    with library(tmp_path_factory.mktemp("plain"), docs) as engine, searching(engine) as served:
        yield served


def ask(client: http.client.HTTPConnection, query: str) -> int:
    client.request("GET", f"/api/search?size=10&q={query}")
    response = client.getresponse()
    found = json.loads(response.read())
    assert ("results" if response.status == 200 else "error") in found
    return response.status


@pytest.mark.parametrize("shape", SHAPES)
def test_every_hostile_shape_is_answered(site: Site, shape: str) -> None:
    client = http.client.HTTPConnection(site.host, site.port, timeout=10)
    for length in (10, 1_000, SHORTENED):
        text = SHAPES[shape][:length].encode("utf-8", "surrogatepass")
        assert ask(client, quote(text)[:SHORTENED]) in EXPECTED
    client.close()
    assert site.get("/healthz").status == 200


@pytest.mark.slow
def test_ten_thousand_random_queries_are_answered(site: Site) -> None:
    def run(seed: int) -> set[int]:
        chance = random.Random(seed)
        client = http.client.HTTPConnection(site.host, site.port, timeout=10)
        made = ("".join(chance.choices(PARTS, k=chance.randrange(1, 20))) for _ in range(QUERIES // CLIENTS))
        statuses = {ask(client, quote(query.encode("utf-8", "surrogatepass"))) for query in made}
        client.close()
        return statuses

    with ThreadPoolExecutor(CLIENTS) as pool:
        for statuses in pool.map(run, range(CLIENTS)):
            assert statuses <= EXPECTED
    assert site.get("/healthz").json["status"] == "ok"
