"""Every value in a template is escaped."""

from __future__ import annotations

from pathlib import Path

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from periplus.site import pages as module
from periplus.site.pages import Pages
from periplus.web import app as web


def page(folder: Path, template: str) -> Pages:
    (folder / "own.html").write_text(template, encoding="utf-8")
    return Pages(folder)


def test_text_is_escaped(tmp_path: Path) -> None:
    own = page(tmp_path, '<p title="{{ it }}">{{ it }}')
    assert own.render("own.html", it="<b>&\"'") == b'<p title="&lt;b&gt;&amp;&#34;&#39;">&lt;b&gt;&amp;&#34;&#39;'


@given(st.text())
def test_text_survives_the_way_through_html(text: str) -> None:
    error = Pages(Path(web.__file__).parent / "templates").response("error.html", code=1, heading="", sentence=text)
    shown = turbohtml.parse(bytes(error.body).decode()).select(".notice p")[1].text
    expected = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    assert shown.replace("\ufffd", "") == expected.replace("\ufffd", "")


def test_half_a_surrogate_pair_does_not_break_a_page(tmp_path: Path) -> None:
    assert page(tmp_path, "{{ it }}").render("own.html", it="a\ud800b") == b"a?b"


def test_a_name_that_is_not_given_is_an_error_and_not_a_gap(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError):
        page(tmp_path, "{{ missing }}").render("own.html")


def test_a_site_can_give_the_shared_pages_its_own_frame(tmp_path: Path) -> None:
    (tmp_path / "frame.html").write_text("<nav>own</nav>{% block main %}{% endblock %}", encoding="utf-8")
    shown = Pages(tmp_path, layout="frame.html").render("error.html", code=404, heading="H", sentence="S")
    assert shown.startswith(b"<nav>own</nav>")


@pytest.mark.parametrize("package", [module, web])
def test_no_template_leaves_the_escaping(package: object) -> None:
    for template in (Path(str(package.__file__)).parent / "templates").rglob("*.*"):  # type: ignore[attr-defined]
        source = template.read_text(encoding="utf-8")
        assert "|safe" not in source.replace(" ", "")
        assert "autoescape" not in source
        assert "style=" not in source, "the policy forbids it"
