"""The console's password and tokens are settings that are never shown, and never accepted in plain text."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from crawl.crawling import environment, typed
from periplus.config import Console, load
from periplus.errors import ConfigError

HASH = f"$scrypt$ln=15,r=8,p=3${22 * 'a'}${43 * 'b'}"
DIGEST = 64 * "a"
PLAIN = "my plain secret"


def test_a_hash_is_accepted_and_never_shown(tmp_path: Path) -> None:
    text = f'[console]\npassword = "{HASH}"\n[console.tokens]\nbackup = "{DIGEST}"\n'
    (tmp_path / "periplus.toml").write_text(text)
    configured = load(tmp_path, environment={})
    console = configured.settings.console
    assert console.password.get_secret_value() == HASH
    shown = [repr(console), str(console), console.model_dump_json(), repr(configured), repr(list(configured.rows()))]
    assert not [one for one in shown if HASH in one or DIGEST in one]
    rows = {key: value for key, value, _ in configured.rows()}
    assert (rows["console.password"], rows["console.tokens"]) == ("set", {"backup": "set"})
    assert {key: value for key, value, _ in load(tmp_path / "none", environment={}).rows()}["console.password"] == ""


@pytest.mark.parametrize("options", [["--origin"], ["--json"]])
def test_the_command_that_shows_settings_says_set(tmp_path: Path, options: list[str]) -> None:
    text = f'[console]\npassword = "{HASH}"\n[console.tokens]\nbackup = "{DIGEST}"\n'
    (tmp_path / "periplus.toml").write_text(text)
    outcome = typed("config", "show", "--home", tmp_path, *options)
    assert outcome.code == 0
    assert HASH not in outcome.out + outcome.err
    assert DIGEST not in outcome.out + outcome.err
    if "--json" in options:
        assert outcome.json["console.tokens"] == {"backup": "set"}
    else:
        assert ["console.password", "set", "periplus.toml"] in [line.split() for line in outcome.out.splitlines()]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f'password = "{PLAIN}"', "must be a hash, never the password itself; `periplus password` writes"),
        (f'password = "{HASH.replace("ln=15", "ln=30")}"', "costs that are not supported"),
        (f'password = ["{PLAIN}"]', "text"),
        (f'tokens.backup = "{PLAIN}"', "must be the SHA-256 of a token, never the token itself; `periplus token add"),
        (f'tokens = "{PLAIN}"', "must be a table"),
        (f'tokens."two words" = "{DIGEST}"', "the name of a token has at most 40"),
    ],
)
def test_a_plain_secret_is_refused_and_not_repeated(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "periplus.toml").write_text(f"[console]\n{text}\n")
    with pytest.raises(ConfigError) as error:
        load(tmp_path, environment={})
    assert complaint in str(error.value)
    for options in ([], ["--debug"], ["--json"]):
        outcome = typed("config", "show", "--home", tmp_path, *options)
        assert outcome.code == 2
        assert PLAIN not in outcome.out + outcome.err
        assert "scrypt$" not in outcome.out + outcome.err


def test_a_plain_secret_in_the_environment_is_not_repeated(tmp_path: Path) -> None:
    for name in ("PASSWORD", "TOKENS"):
        env = environment() | {f"PERIPLUS_CONSOLE__{name}": PLAIN}
        outcome = typed("config", "show", "--home", tmp_path, "--debug", env=env)
        assert outcome.code == 2
        assert PLAIN not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("typed_name", "name"),
    [("Crawl.Example.", "crawl.example"), ("192.0.2.1", "192.0.2.1"), ("[2001:DB8::1]", "2001:db8::1"), ("a", "a")],
)
def test_the_names_of_hosts_are_kept_in_their_usual_form(typed_name: str, name: str) -> None:
    assert Console(hosts=[typed_name]).hosts == [name]


@pytest.mark.parametrize("name", ["", "a.example:80", "https://a.example", "*.example", "a b", "é.example", "."])
def test_other_texts_are_no_names_of_hosts(name: str) -> None:
    with pytest.raises(ValidationError, match="host name or an IP address"):
        Console(hosts=[name])
