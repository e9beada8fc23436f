"""The base class of all tables of settings, and the types of values that pydantic does not have.

Each type checks a value (a regular expression, a network, a CSS selector ...) and explains what is wrong with it.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.config import JsonDict

from periplus.config.colours import DARK_GROUNDS, LIGHT_GROUNDS, LOWEST, hex_colour, lowest_contrast, readable

_SITE_ADDRESS = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?/?")
_CONNECT_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]*)"
_CONNECT_RULE = re.compile(f"{_CONNECT_HOST}:([0-9]{{0,5}}):{_CONNECT_HOST}:([0-9]{{0,5}})")


def _regular_expression(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a valid regular expression ({error})") from error
    return pattern


def _connect_rule(rule: str) -> str:
    found = _CONNECT_RULE.fullmatch(rule)
    if not found:
        raise ValueError("must have the form HOST1:PORT1:HOST2:PORT2, with IPv6 addresses in brackets")
    if any(int(port) > 65_535 for port in found.groups() if port):
        raise ValueError("a port must be at most 65535")
    return rule


def _header_text(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be one line of ASCII, because it is sent in an HTTP header")
    return text


def _site_address(text: str) -> str:
    if text and not _SITE_ADDRESS.fullmatch(text):
        raise ValueError("must have the form https://HOST or https://HOST:PORT, without a path")
    return text.rstrip("/")


def _display_text(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line without control characters")
    return text.strip()


def _light_colour(text: str) -> str:
    return _accent(text, LIGHT_GROUNDS, "light") if text else ""


def _dark_colour(text: str) -> str:
    return _accent(text, DARK_GROUNDS, "dark") if text else ""


def _accent(text: str, grounds: tuple[str, ...], scheme: str) -> str:
    colour = hex_colour(text)
    found = lowest_contrast(colour, grounds)
    if found < LOWEST:
        better = readable(colour, grounds)
        raise ValueError(
            f"has a contrast of {found:.1f}:1 with the {scheme} background; at least {LOWEST}:1 is needed, "
            f"for example {better}"
        )
    return colour


def _network(text: str) -> str:
    try:
        ip_network(text)
    except ValueError as error:
        raise ValueError(f"not a valid IP address or network ({error})") from error
    return text


def _css_selector(selector: str) -> str:
    import turbohtml  # noqa: PLC0415  # slow to import, and only needed when a profile is configured

    try:
        turbohtml.parse("").select(selector or "*")
    except ValueError as error:
        raise ValueError(f"not a valid CSS selector ({error})") from error
    return selector


SECRET: JsonDict = {"secret": True}  # the `json_schema_extra` of a setting whose value is never shown
ScheduleClass = Literal["hot", "daily", "weekly", "monthly"]
NetworkText = Annotated[str, AfterValidator(_network)]
Selector = Annotated[str, Field(max_length=1_000), AfterValidator(_css_selector)]
LanguageCode = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
Pattern = Annotated[str, AfterValidator(_regular_expression)]
ConnectRule = Annotated[str, AfterValidator(_connect_rule)]
HeaderText = Annotated[str, AfterValidator(_header_text)]
DisplayText = Annotated[str, AfterValidator(_display_text)]
LightColour = Annotated[str, AfterValidator(_light_colour)]
DarkColour = Annotated[str, AfterValidator(_dark_colour)]
SiteAddress = Annotated[str, AfterValidator(_site_address)]


class Section(BaseModel):
    """A table of `periplus.toml`. Unknown keys are errors; values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_boolean_for_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic reads true as 1, but ``timeout = true`` does not mean one second."""
        if isinstance(value, bool) and cls.model_fields[info.field_name or ""].annotation is not bool:
            raise ValueError("must not be true or false")
        return value
