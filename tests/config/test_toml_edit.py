"""Values are written into periplus.toml, and nothing else in it changes."""

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


# --- lists ---

LISTS = """[scope]
hosts = [ # ours
    "a[.]example",   # the first
    # about b
    "b.example"  # without a comma
]
paths = ["^/x#y"]  # one # two
depth = 3
"""


def test_a_list_keeps_the_comments_of_the_elements_that_stay() -> None:
    assert with_values(LISTS, "scope", {"hosts": ["a[.]example", "c.example"]}) == LISTS.replace(
        '    "b.example"  # without a comma\n', '    "c.example",\n'
    )
    assert with_values(LISTS, "scope", {"hosts": ["a[.]example", "b.example", "c.example"]}) == LISTS.replace(
        '"b.example"  # without a comma\n', '"b.example",  # without a comma\n    "c.example",\n'
    )


def test_a_list_in_one_line_keeps_the_comment_behind_it() -> None:
    assert with_values(LISTS, "scope", {"paths": ["^/x#y", "z"]}) == LISTS.replace('["^/x#y"]', '["^/x#y", "z"]')


def test_a_list_in_another_order_is_written_anew() -> None:
    edited = with_values(LISTS, "scope", {"hosts": ["b.example", "a[.]example"]})
    assert 'hosts = ["b.example", "a[.]example"]\npaths' in edited


@pytest.mark.parametrize("value", [[], None, ['quote " and \\ backslash'], ["ü"], ["#"], ["]"]])
@pytest.mark.parametrize("name", ["hosts", "paths", "new"])
def test_any_list_is_read_back_as_it_was_written(name: str, value: list[str] | None) -> None:
    content = tomllib.loads(with_values(LISTS, "scope", {name: value}))["scope"]
    assert content.get(name) == value
    assert content["depth"] == 3


def test_a_name_with_dots_is_quoted_and_found_again() -> None:
    once = with_values("", "scope.domain_pages", {"example.org": 5})
    assert once == '[scope.domain_pages]\n"example.org" = 5\n'
    assert with_values(once, "scope.domain_pages", {"example.org": 7}) == once.replace("5", "7")


def test_texts_are_written_with_quotes_and_removed() -> None:
    text = "[console]\npassword = 'old' # mine\n"
    changed = with_values(text, "console", {"password": 'a "b" \\'})
    assert changed == '[console]\npassword = "a \\"b\\" \\\\" # mine\n'
    assert with_values(text, "console", {"password": None}) == "[console]\n"


def test_a_table_inside_a_table_can_be_edited_before_and_after_it() -> None:
    text = with_values("", "console.tokens", {"a": "1"})
    text = with_values(text, "console", {"password": "x"})
    text = with_values(text, "console.tokens", {"b": "2"})
    assert tomllib.loads(text) == {"console": {"tokens": {"a": "1", "b": "2"}, "password": "x"}}


def test_the_reason_for_refusing_a_text_does_not_repeat_it() -> None:
    with pytest.raises(ConfigError) as error:
        with_values("console.password = 'x'\n", "console", {"password": "secret"})
    assert "secret" not in str(error.value)
    assert "Write a line [console]" in str(error.value)
