"""Installed documentation is found, limited in size, and nothing else is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.demo.library import PYTHON, Site, installed_sites, python_site


def install(folder: Path, package: str, *pages: str) -> Path:
    root = folder / package / "html"
    for name in ("index.html", *pages):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"<title>{name}</title>", encoding="utf-8")
    return root


def found(folder: Path, **limits: int) -> dict[str, Site]:
    return {site.host: site for site in installed_sites([folder], **limits)}


def test_a_package_with_an_index_page_is_a_site_of_its_own(tmp_path: Path) -> None:
    install(tmp_path, "valgrind", "manual/core.html")
    site = found(tmp_path)["valgrind.docs.localhost"]
    assert set(site.files) == {"/index.html", "/manual/core.html"}
    assert (site.title, site.pages) == ("valgrind", 2)


def test_packages_that_keep_their_pages_at_the_top_are_found_too(tmp_path: Path) -> None:
    (tmp_path / "sqlite3").mkdir()
    (tmp_path / "sqlite3" / "index.html").touch()
    assert set(found(tmp_path)) == {"sqlite3.docs.localhost"}


def test_a_machine_without_documentation_has_none(tmp_path: Path) -> None:
    (tmp_path / "coreutils").mkdir()
    (tmp_path / "coreutils" / "copyright").touch()
    assert found(tmp_path) == {}
    assert found(tmp_path / "nowhere") == {}


def test_two_names_of_the_same_pages_are_one_site(tmp_path: Path) -> None:
    root = install(tmp_path, "libffi8", "a.html")
    (tmp_path / "libffi-dev").mkdir()
    (tmp_path / "libffi-dev" / "html").symlink_to(root)
    assert len(found(tmp_path)) == 1


@pytest.mark.parametrize(
    ("package", "host"),
    [("libstdc++-12-doc", "libstdc-12-doc"), ("Python3.11", "python3-11"), ("a_b", "a-b"), ("+", "package")],
)
def test_every_package_gets_a_name_that_a_browser_takes(tmp_path: Path, package: str, host: str) -> None:
    install(tmp_path, package)
    assert set(found(tmp_path)) == {f"{host}.docs.localhost"}


def test_a_package_cannot_take_the_place_of_the_library(tmp_path: Path) -> None:
    install(tmp_path, "python")
    assert PYTHON not in found(tmp_path)


def test_large_packages_are_cut_and_small_ones_stay_whole(tmp_path: Path) -> None:
    install(tmp_path, "large", *(f"{number:03}.html" for number in range(200)))
    install(tmp_path, "small", "a.html", "b.html")
    sites = found(tmp_path, pages=50)
    assert sites["small.docs.localhost"].pages == 3
    assert sites["large.docs.localhost"].pages == 47
    assert "/index.html" in sites["large.docs.localhost"].files


def test_no_more_packages_are_served_than_allowed(tmp_path: Path) -> None:
    for number in range(30):
        install(tmp_path, f"package{number}")
    assert len(found(tmp_path)) == 20
    assert len(found(tmp_path, packages=3)) == 3


def test_a_link_out_of_the_documentation_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("a password", encoding="utf-8")
    root = install(tmp_path / "doc", "package")
    (root / "out.html").symlink_to(tmp_path / "secret.html")
    (root / "away").symlink_to(tmp_path)
    assert set(found(tmp_path / "doc")["package.docs.localhost"].files) == {"/index.html"}


def test_only_pages_and_what_they_show_are_served(tmp_path: Path) -> None:
    root = install(tmp_path, "package")
    for name in ("style.css", "picture.png", "notes.txt", "database.db", "page.html.gz"):
        (root / name).touch()
    assert set(found(tmp_path)["package.docs.localhost"].files) == {"/index.html", "/style.css", "/picture.png"}


def test_the_rendered_pages_of_python_are_a_site(tmp_path: Path) -> None:
    root = install(tmp_path, "x", "library/json.html")
    site = python_site(root)
    assert (site.host, set(site.files)) == (PYTHON, {"/index.html", "/library/json.html"})


def test_pages_are_found_in_a_folder_named_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.html").write_text("<title>Home</title>")
    monkeypatch.chdir(tmp_path)
    assert list(python_site(Path("docs")).files) == ["/index.html"]
