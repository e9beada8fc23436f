"""Which documentation is on this machine, and under which addresses is it served?

Each body of documentation is a site of its own under `.localhost`: browsers take such names to this machine, so that
the results of the demo can be opened. Only files found here beforehand are ever served.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

FOLDERS = tuple(map(Path, ("/usr/share/doc", "/usr/local/share/doc", "/opt/homebrew/share/doc")))
PACKAGES = 20
PAGES = 1_500  # of all packages together; with those of Python the crawl takes seconds
ENTRANCE = "docs.localhost"
PYTHON = f"python.{ENTRANCE}"
_FILES_LOOKED_AT = 20_000  # of one package
_PAGE_ENDINGS = frozenset({".html", ".htm"})
_OTHER_ENDINGS = frozenset({".css", ".gif", ".jpeg", ".jpg", ".js", ".png", ".svg"})


@dataclass(frozen=True, slots=True)
class Site:
    """One body of documentation."""

    host: str
    title: str
    files: dict[str, Path]  # by path of the address

    @property
    def pages(self) -> int:
        """How many of its files are pages."""
        return sum(path.suffix in _PAGE_ENDINGS for path in self.files.values())


def python_site(folder: Path) -> Site:
    """The rendered pages of the standard library."""
    return _site(PYTHON, "Python", folder.resolve(), PAGES)


def installed_sites(folders: Iterable[Path] = FOLDERS, *, packages: int = PACKAGES, pages: int = PAGES) -> list[Site]:
    """Packages with HTML documentation, in the order of their names; large ones are cut, so that all have a share."""
    roots: dict[Path, str] = {}
    for folder in folders:
        for root, name in _roots(folder):
            roots.setdefault(root, name)
    hosts = {_host(name): (name, root) for root, name in reversed(roots.items())}
    hosts.pop(PYTHON, None)
    found = [_site(host, name, root, pages) for host, (name, root) in islice(sorted(hosts.items()), packages)]
    sites = []
    for left, site in zip(range(len(found), 0, -1), sorted(found, key=lambda site: site.pages), strict=True):
        cut = _cut(site, pages // left)
        pages -= cut.pages
        sites.append(cut)
    return sorted((site for site in sites if site.pages), key=lambda site: site.host)


def _roots(folder: Path) -> Iterator[tuple[Path, str]]:
    """Folders with an index page, as Debian, Homebrew and others install them; links to the same one count once."""
    for package in sorted(_entries(folder)):
        for root in (package / "html", package):
            if (root / "index.html").is_file():
                yield root.resolve(), package.name
                break


def _site(host: str, title: str, root: Path, pages: int) -> Site:
    return _cut(Site(host, title, dict(islice(_files(root), _FILES_LOOKED_AT))), pages)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    """The files below a folder, those near its top first; what a link inside it shows from elsewhere is left out."""
    level = [root]
    while level:
        below: list[Path] = []
        for folder in level:
            for path in sorted(_entries(folder), key=lambda path: (path.name != "index.html", path.name)):
                if path.is_dir() and not path.is_symlink():
                    below.append(path)
                elif path.suffix in _PAGE_ENDINGS | _OTHER_ENDINGS and path.resolve().is_relative_to(root):
                    yield f"/{path.relative_to(root).as_posix()}", path
        level = below


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _cut(site: Site, pages: int) -> Site:
    """The site with at most so many pages."""
    kept: dict[str, Path] = {}
    for address, path in site.files.items():
        pages -= path.suffix in _PAGE_ENDINGS
        if pages >= 0 or path.suffix not in _PAGE_ENDINGS:
            kept[address] = path
    return Site(site.host, site.title, kept)


def _host(package: str) -> str:
    label = re.sub(r"[^a-z0-9]+", "-", package.lower())[:63].strip("-")
    return f"{label or 'package'}.{ENTRANCE}"
