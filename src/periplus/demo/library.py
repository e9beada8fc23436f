"""Finds the HTML documentation on this machine and assigns its URLs.

Each package becomes a site under `.localhost`. Browsers resolve such names to this machine, so results of the demo can
be opened. Only files that this module has found are served.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

FOLDERS = tuple(map(Path, ("/usr/share/doc", "/usr/local/share/doc", "/opt/homebrew/share/doc")))
PACKAGES = 20
PAGES = 1_500  # of all packages together; with Python's own pages, the crawl takes seconds
INDEX_HOST = "docs.localhost"
PYTHON = f"python.{INDEX_HOST}"
_MAX_FILES = 20_000  # per package
_PAGE_SUFFIXES = frozenset({".html", ".htm"})
_OTHER_SUFFIXES = frozenset({".css", ".gif", ".jpeg", ".jpg", ".js", ".png", ".svg"})


@dataclass(frozen=True, slots=True)
class Site:
    """The documentation of one package."""

    host: str
    title: str
    files: dict[str, Path]  # by URL path

    @property
    def pages(self) -> int:
        """The number of HTML pages."""
        return sum(path.suffix in _PAGE_SUFFIXES for path in self.files.values())


def python_site(folder: Path) -> Site:
    """The rendered pages of the standard library."""
    return _site(PYTHON, "Python", folder.resolve(), PAGES)


def installed_sites(folders: Iterable[Path] = FOLDERS, *, packages: int = PACKAGES, pages: int = PAGES) -> list[Site]:
    """Packages with HTML documentation, by name; the pages of large packages are limited, so that all have a share."""
    roots: dict[Path, str] = {}
    for folder in folders:
        for root, name in _roots(folder):
            roots.setdefault(root, name)
    hosts = {_host(name): (name, root) for root, name in reversed(roots.items())}
    hosts.pop(PYTHON, None)
    found = [_site(host, name, root, pages) for host, (name, root) in islice(sorted(hosts.items()), packages)]
    sites = []
    for left, site in zip(range(len(found), 0, -1), sorted(found, key=lambda site: site.pages), strict=True):
        limited = _limited(site, pages // left)
        pages -= limited.pages
        sites.append(limited)
    return sorted((site for site in sites if site.pages), key=lambda site: site.host)


def _roots(folder: Path) -> Iterator[tuple[Path, str]]:
    """Folders with an index page, where Debian and Homebrew install them; symbolic links are resolved."""
    for package in sorted(_entries(folder)):
        for root in (package / "html", package):
            if (root / "index.html").is_file():
                yield root.resolve(), package.name
                break


def _site(host: str, title: str, root: Path, pages: int) -> Site:
    return _limited(Site(host, title, dict(islice(_files(root), _MAX_FILES))), pages)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    """The files below a folder, breadth first; symbolic links to files outside the folder are left out."""
    level = [root]
    while level:
        below: list[Path] = []
        for folder in level:
            for path in sorted(_entries(folder), key=lambda path: (path.name != "index.html", path.name)):
                if path.is_dir() and not path.is_symlink():
                    below.append(path)
                elif path.suffix in _PAGE_SUFFIXES | _OTHER_SUFFIXES and path.resolve().is_relative_to(root):
                    yield f"/{path.relative_to(root).as_posix()}", path
        level = below


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _limited(site: Site, pages: int) -> Site:
    """The site with at most *pages* pages."""
    kept: dict[str, Path] = {}
    for address, path in site.files.items():
        pages -= path.suffix in _PAGE_SUFFIXES
        if pages >= 0 or path.suffix not in _PAGE_SUFFIXES:
            kept[address] = path
    return Site(site.host, site.title, kept)


def _host(package: str) -> str:
    label = re.sub(r"[^a-z0-9]+", "-", package.lower())[:63].strip("-")
    return f"{label or 'package'}.{INDEX_HOST}"
