"""Reads how the operator wants the site to look: name, tagline, logo and colours.

The logo is checked when the site starts, so a mistake is one line on the terminal and not a broken picture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from periplus.config import Settings, SiteLook
from periplus.config.colours import DARK_GROUNDS, readable, text_on
from periplus.errors import ConfigError
from periplus.fetch.request import user_agent
from periplus.site.pages import Pages

LARGEST_LOGO = 256_000  # bytes
_SHORT_NAME = 16  # characters that OpenSearch allows
_TYPES = {".svg": "an SVG", ".png": "a PNG"}
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LOGO_POLICY = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}


@dataclass(frozen=True, slots=True)
class Branding:
    """What distinguishes this site from others, ready to be served."""

    look: SiteLook = field(default_factory=SiteLook)
    logo: bytes = b""  # empty: the logo of Periplus
    contact: str = ""  # of the operator
    user_agent: str = user_agent("")  # header that the crawler sends

    @property
    def icon(self) -> str:
        """The static file that is the icon of the site."""
        return f"site-logo{Path(self.look.logo).suffix.lower()}" if self.logo else "favicon.ico"

    def apply(self, pages: Pages) -> None:
        """Gives templates and static files the name, the logo and the colours."""
        look, files = self.look, pages.assets
        if self.logo:
            files.add(self.icon, self.logo, _LOGO_POLICY)
        if look.accent:
            files.add("theme.css", _theme(look.accent))
        if dark := look.accent_dark or (look.accent and readable(look.accent, DARK_GROUNDS)):
            files.add("theme-dark.css", _theme(dark))
        pages.define(
            site_name=look.name,
            short_name=look.name[:_SHORT_NAME].strip(),
            tagline=look.tagline,
            logo=self.icon if self.logo else "logo.svg",
        )


def load_branding(settings: Settings, home: Path) -> Branding:
    """Reads the logo of the collection in *home*; raises `ConfigError` when it cannot be shown."""
    logo = _read_logo(home, settings.site.logo) if settings.site.logo else b""
    return Branding(settings.site, logo, settings.identity.contact, user_agent(settings.identity.contact))


def _theme(accent: str) -> bytes:
    return f":root{{--accent:{accent};--on-accent:{text_on(accent)};--bar:{accent}}}\n".encode()


def _read_logo(home: Path, name: str) -> bytes:
    path, suffix = (home / name).resolve(), Path(name).suffix.lower()
    if not path.is_relative_to(home.resolve()):
        raise _refused(name, "it must be in the folder of the collection")
    if suffix not in _TYPES:
        raise _refused(name, "it must be an SVG or PNG file")
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST_LOGO + 1)
    except FileNotFoundError as error:
        raise _refused(name, "the file does not exist") from error
    except OSError as error:
        raise _refused(name, f"the file cannot be read ({error.strerror})") from error
    if len(body) > LARGEST_LOGO:
        raise _refused(name, f"it is larger than {LARGEST_LOGO // 1000} kB")
    if not (body.startswith(_PNG_SIGNATURE) if suffix == ".png" else b"<svg" in body):
        raise _refused(name, f"it is not {_TYPES[suffix]} file")
    return body


def _refused(name: str, why: str) -> ConfigError:
    return ConfigError(f"site.logo: {name} cannot be used", why, hint="Name an SVG or PNG file of the collection.")
