"""Weights are written into periplus.toml, and nothing else in it changes."""

from __future__ import annotations

import tomllib

import pytest

from periplus.config.toml_edit import with_values
from periplus.errors import ConfigError

VALUES = {"text": 1.25, "title": 0.5}


def test_an_empty_file_gets_the_table() -> None:
    assert with_values("", "ranking", VALUES) == "[ranking]\ntext = 1.25\ntitle = 0.5\n"


def test_other_tables_comments_and_order_stay() -> None:
    text = (
        "# mine\n[fetch]\ntimeout = 17 # s\n\n[ranking] # weights\ntitle = 3 # strong\nurl = 1\n\n[scope]\nhosts = []\n"
    )
    assert with_values(text, "ranking", VALUES) == (
        "# mine\n[fetch]\ntimeout = 17 # s\n\n[ranking] # weights\ntitle = 0.5 # strong\nurl = 1\ntext = 1.25\n\n"
        "[scope]\nhosts = []\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[fetch]\ntimeout = 17",  # no newline at the end
        "[fetch]\r\ntimeout = 17\r\n",
        "[ranking]\r\ntext = 2\r\n",
        "[ ranking ]\n",
        "[ranking]\n# nothing yet\n\n\n",
        '[scope]\nhosts = [\n  "a",\n]\n[ranking]\ntext=2\n[[other]]\nx = 1\n',
        'note = """\n[fetch]\n"""\n[ranking]\ntext = 2\n',
    ],
)
def test_files_of_many_forms_can_be_edited(text: str) -> None:
    wanted = tomllib.loads(text)
    wanted["ranking"] = wanted.get("ranking", {}) | VALUES
    edited = with_values(text, "ranking", VALUES)
    assert tomllib.loads(edited) == wanted
    assert ("\r\n" in edited) == ("\r\n" in text)
    assert with_values(edited, "ranking", VALUES) == edited


@pytest.mark.parametrize(
    "text",
    [
        "ranking = { text = 2 }\n",
        "ranking.text = 2\n",
        'note = """\n[ranking]\n"""\n',
        "[ranking]\n'text' = 2\n",
        "[ranking]\ntext = { a = 1 }\n",
    ],
)
def test_a_table_in_an_unusual_form_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be edited: it has an unusual form\. Write into it: text = 1\.25"):
        with_values(text, "ranking", VALUES)
