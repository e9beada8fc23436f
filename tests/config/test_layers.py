"""A setting means the same wherever it is written, and a mistake in it is explained where it was made."""

from __future__ import annotations

import dataclasses
import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.config import FILE_NAME, Configuration, load, setting_keys
from periplus.errors import ConfigError

LAYERS = [FILE_NAME, "environment", "flag"]


def configure(
    home: Path, file: str | bytes = "", environment: dict[str, str] | None = None, flags: dict[str, Any] | None = None
) -> Configuration:
    (home / FILE_NAME).write_bytes(file.encode() if isinstance(file, str) else file)
    return load(home, flags, environment or {})


def in_layer(home: Path, layer: str, key: str, value: object) -> Configuration:
    """A configuration in which one layer sets one key, spelled as in that layer."""
    section, _, name = key.rpartition(".")
    if layer == FILE_NAME:
        return configure(home, f"[{section}]\n{name} = {value!r}\n" if section else f"{name} = {value!r}\n")
    if layer == "environment":
        return configure(home, environment={variable(key): str(value)})
    return configure(home, flags={key: value})


def variable(key: str) -> str:
    return "PERIPLUS_" + key.upper().replace(".", "__")


def mistake(home: Path, **layers: Any) -> str:
    """The one line that a user reads about a wrong configuration."""
    with pytest.raises(ConfigError) as caught:
        configure(home, **layers)
    return checked(caught.value)


def mistake_in_layer(home: Path, layer: str, key: str, value: object) -> str:
    with pytest.raises(ConfigError) as caught:
        in_layer(home, layer, key, value)
    return checked(caught.value)


def checked(error: ConfigError) -> str:
    assert error.exit_code == 2
    assert error.hint, "the reader is told what to do"
    line = str(error)
    assert line.isprintable(), "it is one line"
    assert len(line) < 600
    return line


# Which layer wins


def test_a_folder_without_a_file_has_the_defaults(tmp_path: Path) -> None:
    configuration = load(tmp_path, environment={})
    assert configuration.settings.fetch.timeout == 30.0
    assert configuration.origins == {}
    assert {origin for _, _, origin in configuration.rows()} == {"default"}


def test_the_flag_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    everywhere = {"fetch.timeout", "fetch.attempts", "fetch.redirects"}
    file = "[fetch]\n" + "".join(f"{key.partition('.')[2]} = 11\n" for key in everywhere)
    environment = {"PERIPLUS_FETCH__TIMEOUT": "12", "PERIPLUS_FETCH__ATTEMPTS": "12"}
    configuration = configure(tmp_path, file, environment, {"fetch.timeout": 13})
    fetch = configuration.settings.fetch
    assert (fetch.concurrency, fetch.redirects, fetch.attempts, fetch.timeout) == (64, 11, 12, 13)
    assert configuration.origins == {
        "fetch.redirects": FILE_NAME,
        "fetch.attempts": "environment",
        "fetch.timeout": "flag",
    }


def test_every_setting_is_listed_with_its_value_and_where_it_comes_from(tmp_path: Path) -> None:
    rows = list(configure(tmp_path, "[scope]\ndepth = 3\n", flags={"store.commit_pages": 9}).rows())
    assert [key for key, _, _ in rows] == setting_keys()
    assert ("scope.depth", 3, FILE_NAME) in rows
    assert ("store.commit_pages", 9, "flag") in rows
    assert ("politeness.delay", 1.0, "default") in rows


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scope.depth", 3),
        ("politeness.delay", 2.5),
        ("politeness.delay", 0),
        ("identity.contact", "https://example.org/bot"),
        ("identity.contact", ""),
    ],
)
def test_a_value_means_the_same_in_every_layer(tmp_path: Path, layer: str, key: str, value: object) -> None:
    configuration = in_layer(tmp_path, layer, key, value)
    assert {row[0]: row[1] for row in configuration.rows()}[key] == value
    assert configuration.origins == {key: layer}


def test_a_layer_replaces_a_list_and_does_not_add_to_it(tmp_path: Path) -> None:
    environment = {"PERIPLUS_SCOPE__HOSTS": "b"}
    assert configure(tmp_path, '[scope]\nhosts = ["a"]\n', environment).settings.scope.hosts == ["b"]


def test_a_configuration_does_not_change_once_read(tmp_path: Path) -> None:
    configuration = load(tmp_path, environment={})
    with pytest.raises(dataclasses.FrozenInstanceError):
        configuration.settings = configuration.settings  # type: ignore[misc]


# The file


@pytest.mark.parametrize(
    "file",
    [
        "",
        "# nothing but a comment\n",
        "[fetch]\n",
        "[fetch]\r\ntimeout = 5\r\n",
        "fetch.timeout = 5",
        "fetch = { timeout = 5 }",
        b"\xef\xbb\xbf[fetch]\ntimeout = 5\n",
    ],
)
def test_the_file_may_be_written_in_any_way_that_is_toml(tmp_path: Path, file: str | bytes) -> None:
    expected = 5.0 if b"5" in (file.encode() if isinstance(file, str) else file) else 30.0
    assert configure(tmp_path, file).settings.fetch.timeout == expected


@pytest.mark.parametrize(
    "file",
    [
        "[fetch\n",
        "timeout",
        "[fetch]\ntimeout = \n",
        "[fetch]\ntimeout = 5\ntimeout = 6\n",
        "[fetch]\n[fetch]\n",
        'x = "\\q"',
        "x = " + "9" * 5000,
        "x = " + "[" * 100_000,
        "\x00",
    ],
)
def test_a_file_that_is_not_toml_is_named_with_the_place_of_the_mistake(tmp_path: Path, file: str) -> None:
    line = mistake(tmp_path, file=file)
    assert line.startswith(f"{tmp_path / FILE_NAME} is not valid TOML: ")


def test_the_line_of_a_mistake_in_the_file_is_named(tmp_path: Path) -> None:
    assert "at line 2, column" in mistake(tmp_path, file="[fetch]\ntimeout = five\n")


def test_a_file_in_another_encoding_is_explained(tmp_path: Path) -> None:
    line = mistake(tmp_path, file='[identity]\ncontact = "Jörg"\n'.encode("latin-1"))
    assert line == f"{tmp_path / FILE_NAME} cannot be read: line 2 is not UTF-8 text. Save it as UTF-8."


def test_a_folder_in_place_of_the_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ConfigError, match="cannot be read: Is a directory") as caught:
        load(tmp_path, environment={})
    checked(caught.value)


def test_a_file_in_place_of_the_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(ConfigError, match="cannot be read: Not a directory") as caught:
        load(tmp_path / "home", environment={})
    checked(caught.value)


def test_a_file_without_read_permission_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: Any) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "read_text", refuse)  # real permissions do not stop the superuser
    assert mistake(tmp_path) == (
        f"{tmp_path / FILE_NAME} cannot be read: Permission denied. "
        "Check that it is a file and that you have read permission."
    )


@pytest.mark.parametrize(
    "given",
    [
        {"file": '[scope.domain_pages]\n"example.org" = 100000\n"a.test" = 5\n'},
        {"file": '[scope]\ndomain_pages = {"example.org" = 100000, "a.test" = 5}\n'},
        {"environment": {"PERIPLUS_SCOPE__DOMAIN_PAGES": "example.org=100000, a.test = 5,"}},
        {"flags": {"scope.domain_pages": {"example.org": 100000, "a.test": 5}}},
    ],
)
def test_a_setting_that_names_things_is_a_table(tmp_path: Path, given: dict[str, Any]) -> None:
    assert configure(tmp_path, **given).settings.scope.domain_pages == {"example.org": 100_000, "a.test": 5}


@pytest.mark.parametrize("text", ["example.org", "example.org=", "example.org=many", "example.org=0"])
def test_an_invalid_table_in_the_environment_is_explained(tmp_path: Path, text: str) -> None:
    line = mistake(tmp_path, environment={"PERIPLUS_SCOPE__DOMAIN_PAGES": text})
    assert line.startswith("PERIPLUS_SCOPE__DOMAIN_PAGES = ")
    assert "is not valid: must be " in line


@pytest.mark.parametrize("file", ["scope = 3", "scope = []", '[[scope]]\nhosts = ["a"]', 'scope = "a"'])
def test_a_value_in_place_of_a_table_is_explained(tmp_path: Path, file: str) -> None:
    assert mistake(tmp_path, file=file) == (
        "'scope' in periplus.toml cannot be set: it is a table of settings. "
        "Name the setting as well, for example 'scope.hosts'."
    )


@pytest.mark.parametrize("file", ["[fetch.timeout]", "[fetch.timeout]\nseconds = 3", "[fetch.timeout.deeper.still]"])
def test_a_table_in_place_of_a_value_is_explained(tmp_path: Path, file: str) -> None:
    assert mistake(tmp_path, file=file) == (
        "'fetch.timeout' in periplus.toml cannot be a table: it is one setting. Write `timeout = ...` under [fetch]."
    )


def test_a_table_in_place_of_a_list_is_explained(tmp_path: Path) -> None:
    assert "'scope.hosts' in periplus.toml cannot be a table" in mistake(tmp_path, file="[scope.hosts]\na = 1")


@pytest.mark.parametrize(
    ("file", "name"), [("[ftech]", "fetch"), ("[ftech.tls.deep]\na = 1", "fetch"), ("[Fetch]", "fetch")]
)
def test_an_unknown_table_is_a_mistake_even_when_it_is_empty(tmp_path: Path, file: str, name: str) -> None:
    line = mistake(tmp_path, file=file)
    assert line.startswith("unknown setting '")
    assert f"Did you mean '{name}" in line


# Unknown keys


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("fetch.timeuot", "fetch.timeout"),
        ("ftech.timeout", "fetch.timeout"),
        ("scope.host", "scope.hosts"),
        ("timeout", "fetch.timeout"),
        ("politeness.timeout", "fetch.timeout"),
        ("delay", "politeness.delay"),
        ("fetch_timeout", "fetch.timeout"),
        ("storage.commit_pages", "store.commit_pages"),
    ],
)
def test_a_misspelled_setting_is_answered_with_the_right_one(
    tmp_path: Path, layer: str, wrong: str, right: str
) -> None:
    line = mistake_in_layer(tmp_path, layer, wrong, 3)
    spelling = variable if layer == "environment" else str
    assert f"unknown setting {spelling(wrong)!r} " in line
    assert f"Did you mean {spelling(right)!r}?" in line


@pytest.mark.parametrize(
    ("layer", "place"),
    [(FILE_NAME, "in periplus.toml"), ("environment", "in the environment"), ("flag", "on the command line")],
)
def test_a_mistake_names_the_layer_it_was_made_in(tmp_path: Path, layer: str, place: str) -> None:
    assert f" {place}" in mistake_in_layer(tmp_path, layer, "zzz.qqq", 1)
    assert f" {place}" in mistake_in_layer(tmp_path, layer, "fetch.timeout", -1)
    assert f" {place}" in mistake_in_layer(tmp_path, layer, "fetch", 1)


@pytest.mark.parametrize("layer", LAYERS)
def test_an_unknown_setting_is_answered_with_the_command_that_lists_all(tmp_path: Path, layer: str) -> None:
    assert "`periplus config show` lists every setting." in mistake_in_layer(tmp_path, layer, "zzz.qqq", 1)


# The environment


def test_other_environment_variables_are_ignored(tmp_path: Path) -> None:
    environment = {"PATH": "/bin", "PERIPLUS_HOME": "/x", "MY_PERIPLUS_FETCH__TIMEOUT": "x", "PERIPLUS": "x"}
    assert configure(tmp_path, environment=environment).origins == {}


def test_the_environment_of_the_process_is_read_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_FETCH__TIMEOUT", "7")
    assert load(tmp_path).settings.fetch.timeout == 7


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a.example", ["a.example"]),
        ("a.example,b.example", ["a.example", "b.example"]),
        (" a.example , b.example, ", ["a.example", "b.example"]),
        ("", []),
        (",", []),
    ],
)
def test_a_list_in_the_environment_is_written_with_commas(tmp_path: Path, text: str, hosts: list[str]) -> None:
    assert configure(tmp_path, environment={"PERIPLUS_SCOPE__HOSTS": text}).settings.scope.hosts == hosts


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("no", False), ("FALSE", False)])
def test_a_boolean_in_the_environment_is_a_word_or_a_digit(tmp_path: Path, text: str, value: bool) -> None:
    environment = {"PERIPLUS_FETCH__ALLOW_PRIVATE": text}
    assert configure(tmp_path, environment=environment).settings.fetch.allow_private is value


def test_a_comma_in_text_that_is_not_a_list_is_text(tmp_path: Path) -> None:
    environment = {"PERIPLUS_IDENTITY__CONTACT": "a, b"}
    assert configure(tmp_path, environment=environment).settings.identity.contact == "a, b"


# Wrong values


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("politeness.delay", -1, "must be at least 0"),
        ("fetch.timeout", 0, "must be greater than 0"),
        ("fetch.timeout", "soon", "must be a number"),
        ("fetch.concurrency", 5000, "must be at most 4096"),
        ("scope.depth", 1.5, "must be a whole number"),
        ("fetch.allow_private", "maybe", "must be true or false"),
        ("identity.contact", "Jörg", "must be one line of ASCII"),
    ],
)
def test_a_wrong_value_is_reported_with_key_value_layer_and_reason(
    tmp_path: Path, layer: str, key: str, value: object, why: str
) -> None:
    line = mistake_in_layer(tmp_path, layer, key, value)
    name, shown = (variable(key), repr(str(value))) if layer == "environment" else (key, repr(value))
    assert line.startswith(f"{name} = {shown} ")
    assert f" is not valid: {why}" in line


def test_the_message_ends_with_what_the_setting_means(tmp_path: Path) -> None:
    assert mistake(tmp_path, file="[politeness]\ndelay = -1\n") == (
        "politeness.delay = -1 in periplus.toml is not valid: must be at least 0. "
        "Minimum seconds from the end of a request to a host to the start of the next; a longer Crawl-delay wins."
    )


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e999", "true", "2024-01-01", '""', "[1]"])
@pytest.mark.parametrize("key", ["fetch.timeout", "scope.depth"])
def test_a_number_is_finite_and_no_other_kind_of_value(tmp_path: Path, key: str, value: str) -> None:
    assert f"{key} = " in mistake(tmp_path, file=f"{key} = {value}")


@pytest.mark.parametrize("value", ["3", "true", '"a.example"', "[1]", "[[]]"])
def test_a_list_is_a_list_of_texts(tmp_path: Path, value: str) -> None:
    assert "scope.hosts = " in mistake(tmp_path, file=f"scope.hosts = {value}")


def test_of_a_list_the_wrong_entry_is_shown(tmp_path: Path) -> None:
    line = mistake(tmp_path, file="[scope]\npaths = ['/a', '/(b', '/c']\n")
    assert "scope.paths = '/(b' in periplus.toml is not valid: not a valid regular expression (" in line


def test_a_wrong_value_below_a_right_one_does_no_harm(tmp_path: Path) -> None:
    assert configure(tmp_path, "fetch.timeout = -1", flags={"fetch.timeout": 3}).settings.fetch.timeout == 3


@pytest.mark.parametrize("file", ['fetch.timeout = "{}"', "{} = 1", "[{}]", "[fetch.{}]", 'scope.hosts = ["({}"]'])
def test_a_huge_value_is_shown_in_part(tmp_path: Path, file: str) -> None:
    assert "xxx..." in mistake(tmp_path, file=file.format("x" * 10_000))


def test_a_profile_of_a_site_is_read(tmp_path: Path) -> None:
    file = '[parse.profiles.blog]\nhosts = [".*"]\nbody = "div.post"\nremove = [".share", "#ads > p"]'
    profile = configure(tmp_path, file).settings.parse.profiles["blog"]
    assert (profile.body, profile.remove, profile.title) == ("div.post", [".share", "#ads > p"], "")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('body = "div[["', "parse.profiles.blog.body"),
        ('title = "h1::"', "parse.profiles.blog.title"),
        ('remove = [".share", "p >"]', "parse.profiles.blog.remove"),
        ('hosts = ["("]', "parse.profiles.blog.hosts"),
        ('bodi = "div"', "parse.profiles.blog.bodi"),
    ],
)
def test_an_invalid_selector_is_refused_by_its_name(tmp_path: Path, line: str, key: str) -> None:
    assert mistake(tmp_path, file=f"[parse.profiles.blog]\n{line}").startswith(f"{key} = ")


_words = st.sampled_from([*setting_keys(), "scope", "fetch", "[", "]", "=", '"', "\n", ".", "1", "true", "{", "}", "é"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(file=st.lists(_words | st.text(max_size=5), max_size=12).map(" ".join) | st.binary(max_size=40))
def test_whatever_the_file_holds_it_is_read_or_explained(tmp_path: Path, file: str | bytes) -> None:
    try:
        configure(tmp_path, file)
    except ConfigError as error:
        checked(error)


def test_a_setting_that_was_renamed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"it was renamed.*Write 'parse\.seconds' instead"):
        load(tmp_path, {"parse.pdf_seconds": 3}, {})
    with pytest.raises(ConfigError, match="Write 'PERIPLUS_PARSE__MEMORY_MB' instead"):
        load(tmp_path, {}, {"PERIPLUS_PARSE__PDF_MEMORY_MB": "300"})


def test_a_key_that_is_not_a_regular_expression_is_named(tmp_path: Path) -> None:
    line = mistake(tmp_path, file='[recrawl.pinned]\n"(" = "hot"\n')
    assert line.startswith(f"recrawl.pinned = '(' in {FILE_NAME} is not valid: not a valid regular expression")
