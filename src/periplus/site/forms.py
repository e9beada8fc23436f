"""Reads the form of a POST request."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

_FORM_SECONDS = 15.0  # in which a form must arrive
_MOST_FIELDS = 40


async def read_form(request: Request, longest: int) -> dict[str, str]:
    """The fields of the form; *longest*: bytes that it may have."""
    return form_fields(await read_body(request, longest))


def form_fields(body: bytes) -> dict[str, str]:
    """The fields in the body of a request; 413 when there are too many."""
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise HTTPException(413, "The form has too many fields.") from None


async def read_body(request: Request, longest: int) -> bytes:
    """The form; 413 when it is too long, 408 when it does not arrive in time."""
    body = b""
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > longest:
                    raise HTTPException(413, "The form is too long.")
    except TimeoutError:
        raise HTTPException(408, "The form did not arrive in time.", {"connection": "close"}) from None
    return body
