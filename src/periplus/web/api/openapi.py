"""Describes the JSON API as an OpenAPI 3.1 document; a test compares it with the running server."""

from __future__ import annotations

from typing import Any

from periplus import __version__
from periplus.search.scoring.score import FEATURES
from periplus.site.site_rules import LONGEST
from periplus.web.parameters import AGES, API_SIZE, LARGEST_SIZE, MEDIA_SIZE, PAGES, TYPES

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": ["number", "null"]}  # null: not a finite number
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_NUMBERS: Schema = {"type": "object", "additionalProperties": _NUMBER}
_INTEGER: Schema = {"anyOf": [{"type": "integer"}, {"const": ""}]}  # an empty parameter has its default
_SWITCH: Schema = {"type": "string", "enum": ["1", "true", "yes", "on", "0", "false", "no", "off", ""]}
_NUMERAL = r"[0-9]{1,2}(\.[0-9]{1,9})?"
_WEIGHT = rf"(({'|'.join(FEATURES)}):-?{_NUMERAL}|crowding:{_NUMERAL}|per_host:[1-9])"
_WEIGHTS: Schema = {"type": "string", "pattern": f"^({_WEIGHT}(,{_WEIGHT})*)?$", "maxLength": 1_000}

_SITES = r"^(all|((raise|lower|block):[a-z0-9_]{1,60}(\.[a-z0-9_]{1,60})*(,|$)){0,9})?$"
_ABOUT_SITES = (
    "Rules about at most 50 sites, such as raise:docs.python.org,lower:a.example,block:b.example. "
    "A rule applies to subdomains, too."
)
_NOT_BLANK = r"[^\s\x1c-\x1f\x85]"
_ERRORS = {
    "400": "A parameter is missing or invalid.",
    "404": "There is nothing at this URL.",
    "405": "The method is neither GET nor HEAD.",
    "414": "Path and query string are longer than 32,768 bytes.",
    "429": "The client sends too many requests. Retry-After has the seconds to wait.",
    "500": "Internal error.",
    "503": "Too many searches are waiting, or the index cannot be read. Retry-After has the seconds to wait.",
}
_WITH_RETRY_AFTER = ("429", "503")


def description() -> dict[str, Any]:
    """The OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Periplus search API", "version": __version__, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "paths": {
            "/api/v1/search": {"get": _search()},
            "/api/v1/news": {"get": _news()},
            "/api/v1/images": {"get": _media("images")},
            "/api/v1/videos": {"get": _media("videos")},
            "/api/v1/suggest": {"get": _suggest()},
            "/api/v1/inspect": {"get": _inspect()},
            "/api/v1/playground": {"get": _playground()},
            "/healthz": {"get": _health()},
        },
        "components": {"schemas": _schemas(), "responses": {code: _error(code) for code in _ERRORS}},
    }


def _search() -> Schema:
    parameters = [
        *_common(API_SIZE),
        parameter("exact", _SWITCH, "The spelling of the query is not corrected."),
        parameter("explain", _SWITCH, "Each result has the parts of its score."),
        parameter("features", _SWITCH, "The answer has weights and the features of the 200 best results."),
    ]
    return operation("search", "One page of results.", "Results", parameters)


def _news() -> Schema:
    exact = parameter("exact", _SWITCH, "The spelling of the query is not corrected.")
    return operation("news", "Dated pages, newest first; their score is 0.", "Results", [*_common(API_SIZE), exact])


def _media(name: str) -> Schema:
    return operation(name, f"One page of {name} of indexed pages.", "MediaResults", _common(MEDIA_SIZE))


def _common(size: int) -> list[Schema]:
    """The parameters of all searches; *size*: results per page by default."""
    return [
        parameter("q", {"type": "string", "pattern": _NOT_BLANK}, "The query.", required=True),
        parameter("page", _INTEGER | {"default": 1}, f"Page of results; clamped to 1-{PAGES}."),
        parameter("size", _INTEGER | {"default": size}, f"Results per page; clamped to 1-{LARGEST_SIZE}."),
        parameter(
            "mode", {"type": "string", "enum": ["auto", "and", "or", ""], "default": "auto"}, "Words a page must have."
        ),
        parameter("time", {"type": "string", "enum": [*AGES, ""]}, "Only pages of this age."),
        parameter("lang", {"type": "string", "pattern": "^([A-Za-z]{2,3})?$"}, "Only pages in this language."),
        parameter("type", {"type": "string", "enum": [*TYPES, ""]}, "Only pages of this type."),
        parameter(
            "site", {"type": "string", "pattern": r"^[^\s\x00-\x1f()\"/?#@]{0,253}$"}, "Only pages of this host."
        ),
        parameter("sites", {"type": "string", "pattern": _SITES, "maxLength": LONGEST}, _ABOUT_SITES),
    ]


def _suggest() -> Schema:
    typed = parameter("q", _TEXT, "The typed text; a space at its end ends the last word.")
    return operation("suggest", "Completions of a typed text.", "Suggestions", [typed])


def _inspect() -> Schema:
    url = parameter("url", {"type": "string", "pattern": _NOT_BLANK}, "The URL.", required=True)
    return operation("inspect", "Why a URL is in the collection, or not.", "UrlReport", [url])


def _playground() -> Schema:
    parameters = [
        parameter("q", {"type": "string", "pattern": _NOT_BLANK}, "The query.", required=True),
        parameter("w", _WEIGHTS, "Weights to change, such as title:1.2,rank:0."),
    ]
    return operation("playground", "The 200 best results, ordered by other weights.", "Playground", parameters)


def _health() -> Schema:
    described = operation("health", "State of the server; 503 when a file of the index is damaged.", "Health", [])
    described["responses"]["503"] = _answer("A file of the index is damaged.", "Health")
    return described


def operation(name: str, summary: str, schema: str, parameters: list[Schema]) -> Schema:
    """Describes one GET route whose answer is the named schema."""
    errors = {code: {"$ref": f"#/components/responses/{code}"} for code in _ERRORS}
    answers = {"200": _answer("The answer.", schema), "304": {"description": "The client has the current answer."}}
    return {"operationId": name, "summary": summary, "parameters": parameters, "responses": answers | errors}


def parameter(name: str, schema: Schema, meaning: str, *, required: bool = False) -> Schema:
    """Describes one query parameter."""
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": meaning}


def _answer(meaning: str, schema: str) -> Schema:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": meaning, "content": content}


def _error(code: str) -> Schema:
    described = _answer(_ERRORS[code], "Error")
    if code in _WITH_RETRY_AFTER:
        described["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds to wait."}}
    return described


def _object(properties: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _schemas() -> dict[str, Schema]:
    return {
        "Error": _object({"status": {"type": "integer"}, "error": _TEXT}),
        "Health": _object(
            {
                "status": {"type": "string", "enum": ["ok", "damaged", "partial", "unavailable"]},
                "generation": _COUNT,
                "documents": _COUNT,
                "shards": _COUNT,
                "missing_shards": _list(_COUNT),
                "nodes_up": _COUNT,
                "nodes_down": _COUNT,
                "nodes": _list({"type": "object"}),
            },
            optional=("shards", "missing_shards", "nodes_up", "nodes_down", "nodes"),
        ),
        "UrlReport": {"type": "object"},
        "Suggestions": _object({"query": _TEXT, "suggestions": _list(_object({"text": _TEXT, "kind": _TEXT}))}),
        "Playground": _playground_answer(),
        "Results": _results(),
        "Result": _result(),
        "MediaResults": _media_results(),
        "Media": _media_hit(),
        "FeatureRow": _object(
            {"url": _TEXT, "score": _NUMBER, "features": _NUMBERS, "crowding": _NUMBER, "preference": _NUMBER}
        ),
    }


def _playground_answer() -> Schema:
    row = {"url": _TEXT, "title": _TEXT, "host": _TEXT, "number": _COUNT, "block": _COUNT}
    row |= {"score": _NUMBER, "crowding": _NUMBER, "features": _list(_NUMBER)}
    return _object(
        {
            "query": _TEXT,
            "generation": _COUNT,
            "names": _list(_TEXT),
            "weights": _NUMBERS,
            "usual": _NUMBERS,
            "is_crowded": _FLAG,
            "results": _list(_object(row)),
        }
    )


_PARTIAL = {"partial": _FLAG, "missing_shards": _list(_COUNT), "shards": _COUNT}


def _results() -> Schema:
    properties = {
        "query": _TEXT,
        "understood": _TEXT,
        "corrected": _TEXT,
        "suggestion": _TEXT,
        "excluded": _list(_TEXT),
        "left_out": _list(_TEXT),
        "total": _COUNT,
        "total_is_exact": _FLAG,
        **_PARTIAL,
        "with_all_words": _COUNT,
        "seconds": _NUMBER,
        "page": {"type": "integer", "minimum": 1, "maximum": PAGES},
        "size": {"type": "integer", "minimum": 1, "maximum": LARGEST_SIZE},
        "hints": _list(_TEXT),
        "steps": _NUMBERS,
        "results": _list({"$ref": "#/components/schemas/Result"}),
        "weights": _NUMBERS,
        "features": _list({"$ref": "#/components/schemas/FeatureRow"}),
    }
    return _object(properties, optional=("weights", "features"))


def _media_results() -> Schema:
    properties = {
        "query": _TEXT,
        "total": _COUNT,
        "total_is_exact": _FLAG,
        **_PARTIAL,
        "seconds": _NUMBER,
        "page": {"type": "integer", "minimum": 1, "maximum": PAGES},
        "size": {"type": "integer", "minimum": 1, "maximum": LARGEST_SIZE},
        "results": _list({"$ref": "#/components/schemas/Media"}),
    }
    return _object(properties)


def _media_hit() -> Schema:
    texts = dict.fromkeys(("url", "words", "context", "page_url", "page_title", "host"), _TEXT)
    return _object({**texts, "score": _NUMBER, "date": _NUMBER})


def _result() -> Schema:
    place = {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}
    return _object(
        {
            "url": _TEXT,
            "title": _TEXT,
            "snippet": _TEXT,
            "highlights": _list(place),
            "score": _NUMBER,
            "host": _TEXT,
            "fetched_at": _NUMBER,
            "mime": _TEXT,
            "language": _TEXT,
            "same_content": _list(_TEXT),
            "all_words": _FLAG,
            "missing": _list(_TEXT),
            "date": _NUMBER,
            "explain": _NUMBERS,
        }
    )
