"""Every listed module can be imported safely, in every Python version."""

from __future__ import annotations

import sys

from periplus.demo.modules import SECTIONS, Section, module_names


def everything() -> list[str]:
    return [name for section in SECTIONS for name in module_names(section)]


def test_modules_that_open_a_browser_print_or_need_a_display_are_never_listed() -> None:
    packages = {name.partition(".")[0] for name in everything()}
    assert packages.isdisjoint({"antigravity", "this", "idlelib", "tkinter", "turtle", "turtledemo", "lib2to3", "test"})


def test_finding_the_modules_imports_none_of_them() -> None:
    before = set(sys.modules)
    names = module_names(Section("x", "X", ("imaplib", "wsgiref.*", "xmlrpc.client")))
    assert {"imaplib", "wsgiref.handlers"} <= set(names)
    assert "imaplib" not in set(sys.modules) - before
    assert "wsgiref.handlers" not in set(sys.modules) - before


def test_packages_are_opened_to_the_bottom() -> None:
    names = everything()
    assert {"json.decoder", "asyncio.tasks", "email.mime.text", "xml.etree.ElementTree", "concurrent.futures"} <= set(
        names
    )


def test_a_module_stands_in_one_section_only() -> None:
    names = everything()
    assert len(names) == len(set(names))
    assert len(names) > 250


def test_names_that_this_python_does_not_have_are_skipped() -> None:
    assert module_names(Section("x", "X", ("bisect", "no_such_module", "no_such.thing", "nowhere.*"))) == ["bisect"]
