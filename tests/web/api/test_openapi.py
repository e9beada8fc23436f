"""The OpenAPI description is true: generated requests to a running server get the described answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

from periplus.config import Serving
from periplus.site.metrics import Metrics
from periplus.site.pages import Pages
from periplus.web import app
from periplus.web.api.openapi import description
from periplus.web.app import Sources, search_routes
from web.engines import ARCHIVED, HARBOUR, FakeEngine, FakeLibrary
from web.serving import Site, searching

TEMPLATES = Path(app.__file__).parent / "templates"
PATHS = sorted(description()["paths"])
REQUESTS = 60  # for each path and kind


def kinds_of_requests() -> list[tuple[str, GenerationMode]]:
    """Valid requests for every path, and invalid ones for those with parameters."""
    with_parameters = [path for path in PATHS if description()["paths"][path]["get"]["parameters"]]
    valid = [(path, GenerationMode.POSITIVE) for path in PATHS]
    return valid + [(path, GenerationMode.NEGATIVE) for path in with_parameters]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(FakeEngine(hits=40 * [HARBOUR], hints=("A hint.",)), report=lambda url: {"url": url}) as served:
        yield served


def test_the_description_is_served_as_json(site: Site) -> None:
    answer = site.get("/api/openapi.json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json["openapi"] == "3.1.0"
    assert answer.json == description()


def test_every_route_of_the_api_is_described() -> None:
    engine = FakeEngine()
    sources = Sources(engine, FakeLibrary(engine), report=lambda url: {"url": url})
    routes = search_routes(sources, Serving(), Pages(TEMPLATES, layout="page.html"), Metrics())
    served = {route.path for route in routes}
    api = {path for path in served if path.startswith("/api/v1/")} - {"/api/v1/openapi.json"}
    assert api <= set(PATHS)
    assert set(PATHS) <= served


@pytest.mark.parametrize("path", PATHS)
def test_the_unversioned_path_is_an_alias_of_version_1(site: Site, path: str) -> None:
    alias = path.replace("/v1/", "/")
    first, second = (site.get(one, q="harbour", url=ARCHIVED.url) for one in (path, alias))
    assert first.status == second.status == 200
    assert first.json == second.json


@pytest.mark.slow
@pytest.mark.parametrize(("path", "mode"), kinds_of_requests())
def test_generated_requests_get_the_described_answers(site: Site, path: str, mode: GenerationMode) -> None:
    operation = schemathesis.openapi.from_dict(description())[path]["GET"]

    @settings(
        max_examples=REQUESTS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def request(case: Any) -> None:
        response = case.call(base_url=site.base)
        case.validate_response(response, additional_checks=[not_a_server_error])

    request()


@pytest.mark.parametrize(
    ("path", "status"), [("/api/v1/search", 400), ("/api/v1/none", 404), ("/api/v1/search?page=x&q=a", 400)]
)
def test_every_error_has_the_described_shape(site: Site, path: str, status: int) -> None:
    answer = site.get(path)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    schema = description()["components"]["schemas"]["Error"]
    assert set(answer.json) == set(schema["required"])
    assert answer.json["status"] == status


def test_a_method_other_than_get_is_an_error_with_the_same_shape(site: Site) -> None:
    answer = site.get("/api/v1/search?q=a", method="POST")
    assert (answer.status, set(answer.json)) == (405, {"status", "error"})
