"""Defines the settings of standing queries, each with its default, unit and effect."""

from __future__ import annotations

from pydantic import Field

from periplus.config.value_types import NetworkText, Section


class Watching(Section):
    """How standing queries are kept and delivered (`periplus watch`)."""

    kept_items: int = Field(
        default=200,
        ge=1,
        le=10_000,
        description="Newest items of a standing query that are kept, for its feed and its webhook.",
    )
    webhook_timeout: float = Field(
        default=10.0, gt=0, le=300, description="Seconds for a whole request to a webhook, from the name lookup on."
    )
    private_addresses: list[NetworkText] = Field(
        default=[],
        description="Private networks that webhooks may be in, for example `127.0.0.1/32`. All others are refused.",
    )
