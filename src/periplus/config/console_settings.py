"""Defines the settings of the console, each with its default, unit and effect."""

from __future__ import annotations

from pydantic import Field

from periplus.config.value_types import Section


class Console(Section):
    """When the console shows an alert."""

    alert_disk_mb: int = Field(
        default=2_000, ge=0, description="Megabytes of free disk space below which the console warns. 0: never."
    )
    alert_error_rate: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of the requests of the last minutes that failed, above which the console warns. 1: never.",
    )
    alert_drop: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="The console warns when the crawl fetches fewer pages a second than this share of its rate "
        "before. 0: never.",
    )
    alert_stale_minutes: float = Field(
        default=15.0,
        ge=0,
        description="Minutes that the oldest page waits for the index, above which the console warns. 0: never.",
    )
