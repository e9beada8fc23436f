"""Renders templates into responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from periplus.site.assets import Assets
from periplus.site.preferences import preferences

_HERE = Path(__file__).parent
HTML = "text/html; charset=utf-8"


class Pages:
    """The templates of one site, with the shared templates as fallback. All values are escaped."""

    def __init__(self, templates: Path, layout: str = "base.html") -> None:
        """*layout* is the template that the shared pages, such as errors, extend."""
        self.assets = Assets(_HERE / "static")
        self._environment = Environment(
            loader=FileSystemLoader([templates, _HERE / "templates"]),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        folders = (templates, _HERE / "templates")
        files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
        self._sources = [path.read_bytes() for path in files]
        self._defined: dict[str, object] = {}
        self.headers: dict[str, str] = {}  # of every page that does not set them itself
        self.define(static=self.assets.address, assets=self.assets, layout=layout, preferences=preferences)
        self.define(site_name="Periplus", logo="logo.svg", inspects=False, playground=False)
        self.define(saves_feeds=False, has_console=False)

    def define(self, **values: object) -> None:
        """Sets values that every template can use."""
        self._environment.globals.update(values)
        self._defined |= values

    def filters(self, functions: Mapping[str, Callable[..., object]]) -> None:
        """Adds functions that templates can apply to values: `{{ count|number }}`."""
        self._environment.filters.update(functions)

    @property
    def digest(self) -> str:
        """Identifies the templates, the static files and the texts and flags that are defined for all templates."""
        texts = [f"{name}={value}" for name, value in sorted(self._defined.items()) if isinstance(value, str | bool)]
        parts = [*self._sources, *(text.encode() for text in (*self.assets.digests, *texts))]
        return sha256(b"\0".join(parts)).hexdigest()

    def render(self, template: str, **values: object) -> bytes:
        """Renders a template as UTF-8; a lone surrogate in crawled text becomes a question mark."""
        return self._environment.get_template(template).render(values).encode("utf-8", "replace")

    def response(
        self, template: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
    ) -> Response:
        """Renders a template as a response that only the browser may cache, and must revalidate."""
        own = self.headers | {"cache-control": "private, no-cache", "content-type": HTML} | dict(headers or {})
        return Response(self.render(template, **values), status, own)
