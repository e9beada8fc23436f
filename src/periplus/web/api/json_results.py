"""Encodes search results as JSON for the API; docs/reference/api.md describes the keys."""

from __future__ import annotations

from typing import Any

import orjson

from periplus.model import FeatureRow, FeatureTable, Hit, MediaHit, MediaResults, Results


def encode_results(results: Results, table: FeatureTable | None = None) -> bytes:
    """Encodes results, and weights and features if there are any, as JSON; clients depend on these keys."""
    tuning = {} if table is None else {"weights": table.weights, "features": [_features(row) for row in table.rows]}
    return orjson.dumps(
        {
            "query": results.query,
            "understood": results.understood,
            "corrected": results.corrected,
            "suggestion": results.suggestion,
            "excluded": results.excluded,
            "left_out": results.left_out,
            "total": results.total,
            "total_is_exact": results.total_is_exact,
            "partial": bool(results.missing_shards),
            "missing_shards": results.missing_shards,
            "shards": results.shards,
            "with_all_words": results.with_all_words,
            "seconds": results.seconds,
            "page": results.page,
            "size": results.size,
            "hints": results.hints,
            "steps": results.steps,
            "results": [_hit(hit) for hit in results.hits],
            **tuning,
        }
    )


def _features(row: FeatureRow) -> dict[str, Any]:
    return {
        "url": row.url,
        "score": row.score,
        "features": row.features,
        "crowding": row.crowding,
        "preference": row.boost,
    }


def encode_media(query: str, page: int, size: int, results: MediaResults) -> bytes:
    """Encodes images or videos as JSON; clients depend on these keys."""
    return orjson.dumps(
        {
            "query": query,
            "total": results.total,
            "total_is_exact": results.total_is_exact,
            "partial": bool(results.missing_shards),
            "missing_shards": results.missing_shards,
            "shards": results.shards,
            "seconds": results.seconds,
            "page": page,
            "size": size,
            "results": [_media(hit) for hit in results.hits],
        }
    )


def _media(hit: MediaHit) -> dict[str, Any]:
    return {
        "url": hit.url,
        "words": hit.words,
        "context": hit.context,
        "page_url": hit.page_url,
        "page_title": hit.page_title,
        "host": hit.host,
        "score": hit.score,
        "date": hit.date,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet,
        "highlights": hit.highlights,
        "score": hit.score,
        "host": hit.host,
        "fetched_at": hit.fetched_at,
        "mime": hit.mime,
        "language": hit.language,
        "same_content": hit.same_content,
        "all_words": hit.all_words,
        "missing": hit.missing,
        "date": hit.date,
        "explain": hit.explain,
    }
