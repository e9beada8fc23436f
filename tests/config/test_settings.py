"""Every setting has a description and a valid default, and never changes once it is loaded."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from periplus.config import Fetching, Identity, Scope, Serving, Settings, sections, setting_keys

SECTIONS = dict(sections())


@pytest.mark.parametrize("key", setting_keys())
def test_every_setting_says_what_it_means(key: str) -> None:
    section, name = key.split(".")
    description = SECTIONS[section].model_fields[name].description
    assert description
    assert description.endswith(".")
    assert "\n" not in description


@pytest.mark.parametrize("section", SECTIONS)
def test_every_default_is_a_valid_value(section: str) -> None:
    model = SECTIONS[section]
    assert model.model_validate(model().model_dump(), strict=True) == model()


def test_every_section_says_what_it_is_about() -> None:
    assert all(model.__doc__ for model in SECTIONS.values())


def test_no_two_settings_share_a_name_by_mistake() -> None:
    assert len(setting_keys()) == len(set(setting_keys()))
    assert all(key == key.lower() and key.count(".") == 1 and "__" not in key for key in setting_keys())


@pytest.mark.parametrize("key", setting_keys())
def test_a_setting_does_not_change_once_read(key: str) -> None:
    section, name = key.split(".")
    table = getattr(Settings(), section)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(table, name, getattr(table, name))


def test_a_section_does_not_change_once_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().fetch = Fetching()


def test_two_crawls_do_not_share_their_lists() -> None:
    Settings().scope.hosts.append("a")
    Scope().skip_extensions.append("a")
    assert Settings().scope.hosts == []
    assert "a" not in Settings().scope.skip_extensions


@pytest.mark.parametrize(
    "rule",
    [
        "example.org:443:127.0.0.1:8443",
        "example.org:443:[::1]:8443",
        "[2001:db8::1]:443:[::ffff:1.2.3.4]:8443",
        "example.org::proxy.example:",
        "::127.0.0.1:8080",
        ":::",
        "a:65535:b:0",
    ],
)
def test_connect_to_is_written_as_in_curl(rule: str) -> None:
    assert Fetching(connect_to=[rule]).connect_to == [rule]


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "example.org",
        "example.org:443:127.0.0.1",
        "example.org:443:127.0.0.1:8443:x",
        "example.org:https:127.0.0.1:8443",
        "::1:443:127.0.0.1:8443",
        "[::1:443:127.0.0.1:8443",
        "[]:443:127.0.0.1:8443",
        "[x]:443:127.0.0.1:8443",
        "a:65536:b:80",
        "a:1:b:100000",
        "a:-1:b:80",
        "a:٣:b:80",
        "a b:1:c:2",
        "a:1:b:2\n",
        "https://a:1:b:2",
    ],
)
def test_a_connect_to_rule_that_curl_would_refuse_is_refused(rule: str) -> None:
    with pytest.raises(ValidationError, match=r"HOST1:PORT1:HOST2:PORT2|at most 65535"):
        Fetching(connect_to=[rule])


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{2,1}", "(?P<x>a)(?P<x>b)", "\\"])
def test_a_pattern_that_does_not_compile_is_refused(pattern: str) -> None:
    for field in ("hosts", "paths"):
        with pytest.raises(ValidationError, match="not a valid regular expression"):
            Scope.model_validate({field: [pattern]})


@pytest.mark.parametrize("contact", ["a\r\nX-Evil: 1", "a\nb", "a\x00", "\x1b[31m", "Jörg"])
def test_a_contact_cannot_inject_a_header(contact: str) -> None:
    with pytest.raises(ValidationError, match="one line of ASCII"):
        Identity(contact=contact)


@pytest.mark.parametrize("address", ["", "https://search.example", "http://search.example:8080/", "http://[::1]:8080"])
def test_a_public_address_is_a_scheme_and_a_host(address: str) -> None:
    assert Serving(public_address=address).public_address == address.rstrip("/")


@pytest.mark.parametrize("address", ["search.example", "ftp://a", "https://a/path", "https://a b", 'https://a"', "/"])
def test_a_public_address_that_browsers_cannot_open_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="without a path"):
        Serving(public_address=address)
