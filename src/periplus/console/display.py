"""Formats numbers, sizes, durations and times for the templates of the console."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape

from periplus.site.display import moment, shortened, utc, visible, web_link

_DURATIONS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))
_DASH = "–"


def number(value: float | None) -> str:
    """A number with separators: `12,345`, or `1.5` when it is small and not whole."""
    if value is None:
        return _DASH
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 100 else f"{value:,.1f}"


def size(value: float | None) -> str:
    """A number of bytes, such as `3.1 MB`."""
    if value is None:
        return _DASH
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def duration(seconds: float | None) -> str:
    """A duration, such as `4.2 s`, `12 min` or `3 d`."""
    if seconds is None:
        return _DASH
    for unit, length in _DURATIONS:
        if seconds >= 1.5 * length:
            count = seconds / length
            return f"{count:,.0f} {unit}" if count >= 10 else f"{count:.1f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def ago(seconds: float | None, now: float) -> str:
    """How long ago a time was, or how long until it comes."""
    if not seconds:
        return _DASH
    past = now - seconds
    if abs(past) < 1:
        return "now"
    return f"{duration(past)} ago" if past > 0 else f"in {duration(-past)}"


def clock(seconds: float | None) -> str:
    """A time, such as `18 Nov 2026, 02:28:11 UTC`."""
    at = utc(seconds or 0)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC" if at else _DASH


def share(value: float) -> str:
    """A share in percent, such as `12.3 %`."""
    return f"{100 * value:.1f} %"


def plural(count: int, noun: str, several: str = "") -> str:
    """`1 URL`, `2,000 URLs`; *several*: a plural that does not end with s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or f'{noun}s'}"


def coded(text: str) -> Markup:
    """Text with the words between backticks as code."""
    parts = [
        f"<code>{escape(part)}</code>" if number % 2 else escape(part) for number, part in enumerate(text.split("`"))
    ]
    return Markup("".join(parts))  # noqa: S704  # every part is escaped


def link(path: str, **parameters: object) -> str:
    """The address of a page of the console; empty parameters are left out."""
    kept = {name: str(value) for name, value in parameters.items() if value not in ("", None)}
    return f"/console/{path}?{urlencode(kept, errors='replace')}" if kept else f"/console/{path}"


def shown(value: object) -> str:
    """A value of a setting or of a command in one line."""
    if isinstance(value, dict):
        value = [f"{name} = {part}" for name, part in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return visible(", ".join(map(str, value)))
    return visible(str(value))


FILTERS: dict[str, Callable[..., Any]] = {
    "number": number,
    "size": size,
    "duration": duration,
    "ago": ago,
    "clock": clock,
    "moment": moment,
    "share": share,
    "plural": plural,
    "visible": visible,
    "shortened": shortened,
    "web_link": web_link,
    "shown": shown,
    "coded": coded,
    "sum_values": lambda figures: sum(figures.values()),
}
