"""Renders templates into responses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from periplus.site.assets import Assets

_HERE = Path(__file__).parent
HTML = "text/html; charset=utf-8"


class Pages:
    """The templates of one site, with the shared templates as fallback. All values are escaped."""

    def __init__(self, templates: Path, layout: str = "base.html", **shared: object) -> None:
        """*layout* is the template that the shared pages, such as errors, extend; *shared*: values for all pages."""
        self.assets = Assets(_HERE / "static")
        self._environment = Environment(
            loader=FileSystemLoader([templates, _HERE / "templates"]),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(shared, static=self.assets.address, layout=layout)

    def render(self, template: str, **values: object) -> bytes:
        """Renders a template as UTF-8; a lone surrogate in crawled text becomes a question mark."""
        return self._environment.get_template(template).render(values).encode("utf-8", "replace")

    def response(
        self, template: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
    ) -> Response:
        """Renders a template as a response that only the browser may cache, and must revalidate."""
        own = {"cache-control": "private, no-cache", "content-type": HTML} | dict(headers or {})
        return Response(self.render(template, **values), status, own)
