"""Prepares the web of the bench: documentation packages, one virtual host each."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harness import packages
from harness.errors import BenchError

# Each host has its own registrable domain, because workers divide the work by domain. .test is a reserved suffix.
HOST_PATTERN = "{name}-docs.test"


@dataclass(frozen=True)
class Source:
    """One documentation package that becomes a virtual host, or several."""

    name: str
    package: str
    root: str  # the folder inside the package that becomes "/"
    seeds: tuple[str, ...] = ("/index.html",)


GTK_DOC = "usr/share/gtk-doc/html"

# Chosen for being well linked, of different generators, and free of links to plain-text copies of every page.
SOURCES = (
    Source("python", "python3.11-doc", "usr/share/doc/python3.11/html"),
    Source("postgresql", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    Source("sqlite", "sqlite3-doc", "usr/share/doc/sqlite3"),
    Source("git", "git-doc", "usr/share/doc/git-doc"),
    Source("django", "python-django-doc", "usr/share/doc/python-django-doc/html"),
    Source("sqlalchemy", "python-sqlalchemy-doc", "usr/share/doc/python-sqlalchemy-doc/html"),
    Source("qt", "qtbase5-doc-html", "usr/share/qt5/doc", ("/qtcore/qtcore-index.html",)),
    Source("glib", "libglib2.0-doc", GTK_DOC, ("/glib/index.html", "/gio/index.html", "/gobject/index.html")),
    Source("gtk", "libgtk-3-doc", GTK_DOC, ("/gtk3/index.html", "/gdk3/index.html")),
)


@dataclass(frozen=True)
class Site:
    """One virtual host, ready to be served."""

    host: str
    root: Path
    seeds: tuple[str, ...]
    pages: int  # HTML files there are; links need not reach all of them


@dataclass(frozen=True)
class Web:
    """All hosts of the bench."""

    sites: tuple[Site, ...]

    @property
    def pages(self) -> int:
        return sum(site.pages for site in self.sites)

    def seeds(self, port: int | None = None) -> list[str]:
        """The index pages; with a port for crawlers that can map names but not ports."""
        suffix = f":{port}" if port else ""
        return [f"http://{site.host}{suffix}{path}" for site in self.sites for path in site.seeds]


def prepare(cache: Path, host_pattern: str = HOST_PATTERN, copies: int = 1) -> Web:
    """Downloads and unpacks the sources, prepares their folders, and assigns a host name to each copy."""
    folders = packages.unpack([source.package for source in SOURCES], cache)
    originals = [_site(source, folders[source.package]) for source in SOURCES]
    return Web(
        tuple(
            replace(site, host=host_pattern.format(name=f"{site.host}-{copy}" if copy > 1 else site.host))
            for copy in range(1, copies + 1)
            for site in originals
        )
    )


def versions(cache: Path) -> dict[str, str]:
    """The packages behind the hosts, with their versions."""
    return packages.versions([source.package for source in SOURCES], cache)


def warm(web: Web) -> None:
    """Reads every page once, so that no crawler pays for a cold disk."""
    for root in {site.root for site in web.sites}:
        for path in _html_files(root):
            path.read_bytes()


def _site(source: Source, folder: Path) -> Site:
    """The source as a site whose host is still the bare name."""
    root = folder / source.root
    if not root.is_dir():
        raise BenchError(f"package {source.package} has no folder {source.root}: its layout has changed")
    _drop_links_that_leave(folder)
    _inflate(root)
    pages = sum(1 for _ in _html_files(root))
    return Site(source.name, root, source.seeds, pages)


def _drop_links_that_leave(folder: Path) -> None:
    """Removes symbolic links that leave the folder; the web must not depend on other installed packages."""
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (*folders, *files)):
            if path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(folder.resolve())):
                path.unlink()


def _inflate(root: Path) -> None:
    """Decompresses pages; Debian compresses long pages, but links to them lack the suffix .gz."""
    for packed in list(root.rglob("*.html.gz")):
        plain = packed.with_suffix("")
        if not plain.exists():
            plain.write_bytes(gzip.decompress(packed.read_bytes()))


def _html_files(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.suffix in (".html", ".htm") and path.is_file())
