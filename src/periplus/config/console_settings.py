"""Defines the settings of the console: who may use it, and under which names it can be reached.

Passwords and tokens are stored as hashes only. `periplus password` and `periplus token` write them. A value of these
settings is never shown: not by `periplus config`, nor in an error message.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from periplus.config.value_types import SECRET, Section

# `$scrypt$ln=15,r=8,p=3$SALT$KEY`, the PHC string format; salt and key in base64 without padding
PASSWORD_HASH = re.compile(
    r"\$scrypt\$ln=(?P<ln>\d{1,2}),r=(?P<r>\d{1,2}),p=(?P<p>\d{1,2})"
    r"\$(?P<salt>[A-Za-z0-9+/]{22,86})\$(?P<key>[A-Za-z0-9+/]{43,86})"
)
TOKEN_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TOKEN_HASH = re.compile(r"[0-9a-f]{64}")
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_COSTS = {"ln": (10, 18), "r": (1, 16), "p": (1, 16)}  # the least and most of each; at most 512 MiB for one login


def _password_hash(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    if not text:
        return secret
    found = PASSWORD_HASH.fullmatch(text)
    if found is None:
        raise ValueError("must be a hash, never the password itself; `periplus password` writes the hash of a password")
    if any(not least <= int(found[name]) <= most for name, (least, most) in _COSTS.items()):
        raise ValueError("has costs that are not supported; `periplus password` writes the hash of a password")
    return secret


def _token_hash(secret: SecretStr) -> SecretStr:
    if not _TOKEN_HASH.fullmatch(secret.get_secret_value()):
        raise ValueError("must be the SHA-256 of a token, never the token itself; `periplus token add NAME` writes it")
    return secret


def _token_name(name: str) -> str:
    if not TOKEN_NAME.fullmatch(name):
        raise ValueError("the name of a token has at most 40 letters, digits, hyphens and underscores")
    return name


def _host_name(text: str) -> str:
    name = text.lower().rstrip(".")
    try:
        return str(ip_address(name.strip("[]")))
    except ValueError:
        pass
    if not _HOST_NAME.fullmatch(name):
        raise ValueError("must be a host name or an IP address, without a port")
    return name


class Console(Section):
    """Who may use the console of a crawl."""

    password: Annotated[SecretStr, AfterValidator(_password_hash)] = Field(
        default=SecretStr(""),
        description="Hash of the password, written by `periplus password`. Empty: only a person on this machine can "
        "use the console.",
        json_schema_extra=SECRET,
    )
    tokens: dict[Annotated[str, AfterValidator(_token_name)], Annotated[SecretStr, AfterValidator(_token_hash)]] = (
        Field(
            default={},
            description="SHA-256 of each token for programs, by name, written by `periplus token add NAME` under "
            "`[console.tokens]`.",
            json_schema_extra=SECRET,
        )
    )
    hosts: list[Annotated[str, AfterValidator(_host_name)]] = Field(
        default=[],
        description="Names in the URL of the console, besides `localhost`, the IP address it listens on and the name "
        "in `serve.public_address`. Requests for other names are refused.",
    )
    session_hours: float = Field(default=12.0, gt=0, le=8_760, description="Hours from a login to the next one.")
