"""The quality score separates good pages from bad ones and can be explained."""

from __future__ import annotations

import pytest

from parse.documents import parsed
from parse.main_text.test_line_scores import ARTICLE, FOOTER, MENU
from periplus.model import Quality

GOOD = (
    f"<title>Muziris</title><nav>{MENU}</nav><main>{ARTICLE * 1}<p>{'The wind turns in autumn. ' * 60}</main>{FOOTER}"
)


def test_the_contributions_add_up_to_the_score() -> None:
    quality = parsed(GOOD).quality
    assert quality.score == pytest.approx(sum(quality))
    assert 0.8 < quality.score <= 1


def test_an_empty_page_has_no_quality() -> None:
    assert parsed("").quality == Quality()
    assert parsed("").quality.score == 0


@pytest.mark.parametrize(
    ("html", "clue"),
    [
        ("<title>x</title><p>Too short.", "length"),
        (f"<title>x</title><div>{MENU * 30}</div><p>One line of text stands here and nothing else.", "share"),
        (f"<title>x</title>{ARTICLE}<div style='{'color: red; ' * 2_000}'></div>", "markup"),
        (f"<title>x</title><nav>{MENU}</nav>", "links"),
        (f"<title>x</title>{'<p>81 99 3 17 4 8 0 22' * 30}", "language"),
        (f"<title>x</title>{ARTICLE * 20}", "lines"),
        (ARTICLE, "title"),
    ],
)
def test_each_signal_lowers_the_score_of_a_bad_page(html: str, clue: str) -> None:
    assert getattr(parsed(html).quality, clue) < 0.6 * getattr(parsed(GOOD).quality, clue)


def test_a_page_of_text_is_better_than_a_page_of_links() -> None:
    assert parsed(GOOD).quality.score > 1.5 * parsed(f"<nav>{MENU * 5}</nav>").quality.score
