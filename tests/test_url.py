"""Every page has one canonical URL, whatever a link to it looks like."""

from __future__ import annotations

import contextlib
import re
import string
import time

import ada_url
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from periplus.config import Settings
from periplus.errors import BadUrl
from periplus.url import Canonicalizer, Url, host_of, parse, registrable_domain, split, url_id, url_key

ADDRESSES = Settings().addresses
DEFAULT = Canonicalizer(ADDRESSES.tracking_parameters, ADDRESSES.session_parameters)
PAGE = "https://docs.example.org/a/b/c.html"


# What links look like, and the address they lead to


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/news?utm_source=mail&utm_medium=x",
        "https://example.org/news?UTM_Source=mail",
        "https://example.org/news?gclid=1&fbclid=2&_ga=3",
        "https://example.org/news?%75tm_source=mail",
        "https://example.org/news?utm_",
    ],
)
def test_a_tracking_parameter_does_not_make_a_new_page(link: str) -> None:
    assert DEFAULT.canonical(link) == "https://example.org/news"


def test_other_parameters_are_kept_in_their_order() -> None:
    link = "https://example.org/?b=2&utm_source=mail&a=1&b=3&utmost=4&gclids=5"
    assert DEFAULT.canonical(link) == "https://example.org/?b=2&a=1&b=3&utmost=4&gclids=5"


def test_no_parameter_counts_as_tracking_unless_the_settings_list_it() -> None:
    link = "https://example.org/a;sid=1?utm_source=mail&sid=2"
    assert Canonicalizer().canonical(link) == link


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/shop/item?sid=0123",
        "https://example.org/shop/item?PHPSESSID=abc",
        "https://example.org/shop/item?ASPSESSIONIDQQ=abc",
        "https://example.org/shop/item;jsessionid=AB.node1",
        "https://example.org/shop/item;JSESSIONID=",
        "https://example.org/shop/item;%6Asessionid=AB",
        "https://example.org/shop/item;sid=1;sid=2",
        "https://example.org/shop;sid=1/item;sid=2?sid=3&",
        "https://example.org/shop/cart/..;sid=1/item",
        "https://example.org/shop/cart/%2e%2E;sid=1/item",
        "https://example.org/shop/.;aspsessionidX=1/item",
    ],
)
def test_a_session_id_does_not_make_a_new_page(link: str) -> None:
    assert DEFAULT.canonical(link) == "https://example.org/shop/item"


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/map;layer=2;zoom=3",
        "https://example.org/map;layer=2;sidewalk=3",
        "https://example.org/map;sid",
        "https://example.org/map/sid=1",
        "https://example.org/map?a=1;sid=2&page=3",  # in a query only & separates
        "https://example.org/map?next=/x;sid=2/y",
        "https://a;sid=1/map",  # a strange host, but not ours to rename
    ],
)
def test_a_parameter_that_only_resembles_a_session_id_is_kept(link: str) -> None:
    assert DEFAULT.canonical(link) == link


def test_a_tracking_name_in_the_path_is_part_of_the_page() -> None:
    assert DEFAULT.canonical("https://example.org/a;gclid=1") == "https://example.org/a;gclid=1"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        pytest.param("HTTPS://EXAMPLE.ORG/Path", "https://example.org/Path", id="case matters in paths, not in hosts"),
        pytest.param("https://example.org", "https://example.org/", id="no path is the root"),
        pytest.param("https://example.org/a#part", "https://example.org/a", id="a fragment is a place in the page"),
        pytest.param("https://example.org/#!/a?b", "https://example.org/", id="even a fragment that looks like a path"),
        pytest.param("http://example.org:80/", "http://example.org/", id="default port of http"),
        pytest.param("https://example.org:0443/", "https://example.org/", id="default port of https"),
        pytest.param("http://example.org:443/", "http://example.org:443/", id="another scheme's port"),
        pytest.param("https://example.org:/", "https://example.org/", id="empty port"),
        pytest.param("https://me:secret@example.org/@x", "https://example.org/@x", id="credentials are not kept"),
        pytest.param("https://a@b@example.org/", "https://example.org/", id="even strange ones"),
        pytest.param("https://:@example.org:8443/", "https://example.org:8443/", id="even empty ones"),
        pytest.param("https://example.org/a@b?c=d@e", "https://example.org/a@b?c=d@e", id="other @ signs stay"),
        pytest.param("https://bücher.example/", "https://xn--bcher-kva.example/", id="international host"),
        pytest.param("https://BÜCHER.example/ä?ö", "https://xn--bcher-kva.example/%C3%A4?%C3%B6", id="and path"),
        pytest.param("https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/", id="ideographic full stop"),
        pytest.param("https://ex%61mple.org/", "https://example.org/", id="percent-encoded host"),
        pytest.param("https://example.org./a", "https://example.org/a", id="dot after the host"),
        pytest.param("https://u@example.org.:8443/a./b", "https://example.org:8443/a./b", id="dot before the port"),
        pytest.param("https://example.org%2E/", "https://example.org/", id="encoded dot after the host"),
        pytest.param("http://../a", "http://../a", id="a host of dots is kept to fail by itself"),
        pytest.param("http://1.2.3.4../", "http://1.2.3.4../", id="and does not become an address"),
        pytest.param("http://0x7f.1/", "http://127.0.0.1/", id="hexadecimal IPv4"),
        pytest.param("http://2130706433/", "http://127.0.0.1/", id="IPv4 as one number"),
        pytest.param("http://0177.0.0.1./", "http://127.0.0.1/", id="octal IPv4"),
        pytest.param("http://\uff11\uff12\uff17.0.0.1/", "http://127.0.0.1/", id="full-width IPv4"),
        pytest.param("http://[0:0::0:1]:80/", "http://[::1]/", id="IPv6 has a short form"),
        pytest.param("http://[::FFFF:1.2.3.4]:8080/", "http://[::ffff:102:304]:8080/", id="IPv6 with a port"),
        pytest.param("https://example.org/?", "https://example.org/", id="empty query"),
        pytest.param("https://example.org/?#", "https://example.org/", id="empty query and fragment"),
        pytest.param("https://example.org/?a=1&&b&", "https://example.org/?a=1&b", id="empty parameters"),
        pytest.param("https://example.org/?&", "https://example.org/", id="nothing but empty parameters"),
        pytest.param("https://example.org/?a=&b==", "https://example.org/?a=&b==", id="empty values are values"),
        pytest.param("https://example.org/?a?b", "https://example.org/?a?b", id="question mark in a query"),
        pytest.param("https://example.org/%7euser/%41", "https://example.org/~user/A", id="needless escapes"),
        pytest.param("https://example.org/a%2fb?c=%3d", "https://example.org/a%2Fb?c=%3D", id="needed escapes"),
        pytest.param("https://example.org/100%?%4", "https://example.org/100%25?%254", id="stray percent signs"),
        pytest.param("https://example.org/%%34%31", "https://example.org/%2541", id="no escape arises from others"),
        pytest.param("https://example.org/a b", "https://example.org/a%20b", id="spaces inside"),
        pytest.param("  https://example.org/a ", "https://example.org/a", id="spaces around"),
        pytest.param("https://exa\nmple.org/a\tb", "https://example.org/ab", id="line breaks and tabs"),
        pytest.param("https:\\\\example.org\\a\\..\\b?c\\d", "https://example.org/b?c\\d", id="backslashes"),
        pytest.param("https:example.org/a", "https://example.org/a", id="forgotten slashes"),
        pytest.param("https:////example.org//a", "https://example.org//a", id="too many slashes"),
        pytest.param("https://example.org/a/./b/../../../c/", "https://example.org/c/", id="dot segments"),
        pytest.param("https://example.org/a/%2E%2e/.%2e/b", "https://example.org/b", id="encoded dot segments"),
    ],
)
def test_a_page_has_one_canonical_url(link: str, address: str) -> None:
    assert DEFAULT.canonical(link) == address
    assert DEFAULT.canonical(address) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "//example.org/",
        "mailto:me@example.org",
        "javascript:void(0)",
        "data:text/html,<p>",
        "ftp://example.org/",
        "file:///etc/passwd",
        "ws://example.org/",
        "blob:https://example.org/1",
        "view-source:https://example.org/",
        "https://",
        "https:///",
        "https://me@/",
        "https://:443/",
        "https://exa mple.org/",
        "https://example.org:99999/",
        "https://[::1/",
        "https://1.2.3.4.5/",
        "https://256.256.256.256/",
        "https://\u202e.org/",
        "https://\ud800.org/",
    ],
)
def test_a_link_that_is_not_http_or_https_has_no_canonical_url(text: str) -> None:
    assert DEFAULT.canonical(text) is None


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("", PAGE),
        ("#top", PAGE),
        ("?page=2", f"{PAGE}?page=2"),
        ("../x/y.html", "https://docs.example.org/a/x/y.html"),
        ("../../../../x", "https://docs.example.org/x"),
        ("/x", "https://docs.example.org/x"),
        ("//other.example/x", "https://other.example/x"),
        ("\\\\other.example\\x", "https://other.example/x"),
        ("http://docs.example.org/a", "http://docs.example.org/a"),
        ("https:x", "https://docs.example.org/a/b/x"),
        ("..;sid=1", "https://docs.example.org/a/"),
        (";sid=1", "https://docs.example.org/a/b/"),
        (" \n x \t", "https://docs.example.org/a/b/x"),
        ("tel:123", None),
        ("http://[", None),
        ("\ud800", None),
    ],
)
def test_a_link_is_resolved_against_its_page(link: str, address: str | None) -> None:
    assert DEFAULT.join(PAGE, link) == address


def test_links_of_a_page_reached_with_credentials_lose_them() -> None:
    assert DEFAULT.join("https://me:secret@example.org/a/", "b") == "https://example.org/a/b"


@pytest.mark.parametrize("letter", ["\u017f", "\u212a"])
def test_a_letter_that_only_looks_like_one_of_a_scheme_starts_a_path(letter: str) -> None:
    assert (DEFAULT.join("https://example.org/a/", f"{letter}:b") or "").startswith("https://example.org/a/%")


def test_a_page_without_a_valid_url_has_no_relative_links() -> None:
    assert DEFAULT.join("nowhere", "/") is None
    assert DEFAULT.join("nowhere", "//example.org/") is None


def test_http_and_https_stay_separate() -> None:
    assert DEFAULT.canonical("http://example.org/") != DEFAULT.canonical("https://example.org/")


@pytest.mark.parametrize("noise", [";", "%", "%2", "a&", "../", ";sid=", "@", ".:", "?", "&sid=1", "a./", "é", "#"])
def test_a_link_of_a_megabyte_is_processed_quickly(noise: str) -> None:
    long = noise * (1_000_000 // len(noise))
    start = time.process_time()
    for link in (f"https://example.org/{long}", f"https://example.org/?{long}", f"https://{long}", f";{long}"):
        DEFAULT.join(PAGE, link)
    assert time.process_time() - start < 2


# The parts of an address


def test_a_url_has_its_host_origin_domain_and_path() -> None:
    url = parse("https://www.example.co.uk:8443/a/b?c=d#e")
    assert url == Url("https://www.example.co.uk:8443/a/b?c=d", "www.example.co.uk", "https://www.example.co.uk:8443")
    assert url.path == "/a/b?c=d"
    assert url.domain == "example.co.uk"


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("example.org.", "example.org"),
        ("someone.github.io", "someone.github.io"),
        ("www.someone.github.io", "someone.github.io"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("printer.internal-name", "printer.internal-name"),
        ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("a..example.org", "a..example.org"),
        ("..", ".."),
        ("", ""),
    ],
)
def test_a_domain_is_what_one_registrant_owns(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_the_identity_of_a_url_is_the_same_in_every_release() -> None:
    """Both numbers are in files: a collection would be lost if they changed."""
    assert url_id("https://example.org/").hex() == "9db2570db118aad0d5065686b5f20b16"
    assert url_key("https://example.org/") == 0x8E2C_3C29_14C7_CB49
    assert parse("https://example.org").id == url_id("https://example.org/")


# What a person typed


def test_a_typed_url_is_normalized_like_a_link() -> None:
    assert parse("\u00a0 https://EXAMPLE.org/?gclid=1 \n", DEFAULT).text == "https://example.org/"


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("example", "not a URL"),
        ("", "not a URL"),
        ("/a/b", "not a URL"),
        ("http", "not a URL"),
        ("ftp://example.org/", "the scheme 'ftp' is not http or https"),
        ("view-source:https://example.org/", "the scheme 'view-source' is not http or https"),
        ("http://", "its host or port is invalid"),
        ("HTTPS://exa mple.org/", "its host or port is invalid"),
        ("https://example.org:99999/", "its host or port is invalid"),
        ("\ud800", "not a URL"),
    ],
)
def test_the_error_names_the_problem_of_an_invalid_url(typed: str, why: str) -> None:
    with pytest.raises(BadUrl) as caught:
        parse(typed)
    assert caught.value.why == why
    assert repr(typed) in str(caught.value)
    assert "https://example.org/" in caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("example.org", "https://example.org/"),
        ("Example.org:8443/a?b=c", "https://example.org:8443/a?b=c"),
        ("münchen.de/rathaus", "https://xn--mnchen-3ya.de/rathaus"),
        ("example.org?q=1", "https://example.org/?q=1"),
        ("localhost:8000", "http://localhost:8000/"),
        ("127.0.0.1:8000/x", "http://127.0.0.1:8000/x"),
        ("[::1]:8000", "http://[::1]:8000/"),
    ],
)
def test_a_url_without_a_scheme_is_https_and_http_on_this_machine(typed: str, meant: str) -> None:
    assert parse(typed).text == meant


@pytest.mark.parametrize("typed", ["a\nb", "x" * 100_000, "s" * 100_000 + ":", "\x1b[31m", "https://\n\x00/"])
def test_the_error_about_a_url_is_one_short_line(typed: str) -> None:
    with pytest.raises(BadUrl) as caught:
        parse(typed)
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()


# Whatever a page may hold

_HOSTS = [
    *("example.org", "EXAMPLE.org.", "a.b.c", "localhost", "bücher.example", "xn--bcher-kva.example", "xn--a"),
    *("faß.de", "例え。テスト", "ex%61mple.org", "a;sid=1", "a;b", "a=b&c", ".", "..", "a..", "a..b", "1.2.3.4.."),
    *("foo.09..", "_", "127.0.0.1", "0x7f.1", "2130706433", "1.2.3.4.", "\uff11\uff12\uff17.1", "0", "[::1]"),
    *("[1:0::DB8]", "[::1.2.3.4]"),
]
_PIECES = [
    *("/", "//", "\\", ".", "..", "...", "%2e", "%2E%2e", ".%2e", ";", ";;", "..;sid=1", ".;sid=1/", ";sid=1", ";SID="),
    *(";%73id=1", ";sid%3D1", ";x=1", "jsessionid=1", "sid=1", "utm_a=b", "gclid", "&", "&&", "=", "?", "#", "@", ":"),
    *("%", "%%", "%4", "%41", "%7e", "%7E", "%25", "%2541", "%zz", "%c3%a4", "%C3", "%00", "%3b", "%3F", "%2f", "%23"),
    *("a", "A", "z9", "~", "-", "_", "+", "*", "|", "'", '"', "<", "^", "`", "{", "é", "ß", "\u202e", "😀"),
    *(" ", "\t", "\n", "\r", "\x00", "\x7f", "\u00a0", "\u3000", "http://", "https://", "//b.example/", "javascript:"),
]
text = st.text(max_size=12)
tails = st.lists(st.sampled_from(_PIECES) | text, max_size=8).map("".join)
userinfos = st.sampled_from(["", "", "", "@", "me@", "me:se@cret@", ":@", "%40:%3a@", "a;sid=1@", "é@"])
schemes = st.sampled_from(["http://", "https://", "HTTP://", "https:\\\\", "http:/", "https:"])
ports = st.sampled_from(["", "", ":", ":80", ":443", ":0", ":8080", ":00443", ":65535"])
pages = st.builds("{}{}{}{}/{}".format, schemes, userinfos, st.sampled_from(_HOSTS), ports, tails)
strangers = st.builds("{}{}{}".format, st.sampled_from(["https://", "//", "ftp://", "https://\ud800", ""]), text, tails)
links = pages | pages | pages | strangers
names = (
    st.sampled_from(["sid", "SID*", "x", "*", "", "=", ";", "/", "a;a", "..", "%41", "%c3*", "utm_*", "s*d", "é"])
    | text
)
name_lists = st.lists(names, max_size=4)
canonicalizers = st.just(DEFAULT) | st.builds(Canonicalizer, name_lists, name_lists)


BARE = Canonicalizer()
patient = settings(deadline=None)  # a busy machine is no fault of the address


def found(address: str | None) -> str:
    assume(address is not None)
    return address or ""


@patient
@given(link=links, rules=canonicalizers)
@example(link="http://h/a;a;a;b=1;b=2", rules=Canonicalizer([], ["a;b"]))
@example(link="http://h/;s;sid=1id=2/..;sid=;sid=?&sid&%73id", rules=DEFAULT)
@example(link="http://a.;sid=1./;sid=1", rules=DEFAULT)
def test_a_canonical_url_is_left_unchanged(link: str, rules: Canonicalizer) -> None:
    address = found(rules.canonical(link))
    assert rules.canonical(address) == address


_LABELS = ["example", "a", "b-c", "-", "a--b", "xn--a", "1", "0x7f", "x1", "", "org", "localhost"]
_NAMES = ["a", "B.html", "~me", ".", "..", "...", ".well-known", "a.", "-", "_", "", "a:b", "@", "%41", "c,d"]
_plain = st.builds(
    "{}://{}/{}{}".format,
    st.sampled_from(["http", "https"]),
    st.lists(st.sampled_from(_LABELS), min_size=1, max_size=4).map(".".join),
    st.lists(st.sampled_from(_NAMES), max_size=5).map("/".join),
    st.sampled_from(["", "", "?", "?a=1", "?a=b&c=d,e", "?@action=x", "?a'b", "?/../"]),
)


@patient
@given(link=_plain)
def test_a_simple_url_is_parsed_as_the_standard_says(link: str) -> None:
    try:
        parsed = ada_url.normalize_url(link)
    except ValueError:
        assert BARE.canonical(link) is None
        return
    assert BARE.canonical(link) == BARE.join(PAGE, link) == BARE.canonical(f" {parsed}")


@patient
@given(base=pages, link=links, rules=canonicalizers)
def test_a_joined_link_is_a_canonical_url(base: str, link: str, rules: Canonicalizer) -> None:
    address = found(rules.join(base, link))
    assert rules.canonical(address) == address


@patient
@given(base=pages, link=links, rules=canonicalizers)
def test_a_canonical_url_is_the_same_link_on_every_page(base: str, link: str, rules: Canonicalizer) -> None:
    assume(ada_url.check_url(base))
    address = found(rules.canonical(link))
    assert rules.join(base, address) == address


@patient
@given(link=links, rules=canonicalizers)
def test_no_fragment_no_credentials_and_no_needless_escape_remain(link: str, rules: Canonicalizer) -> None:
    address = found(rules.canonical(link))
    parts = ada_url.URL(address)
    assert "#" not in address
    assert (parts.username, parts.password) == ("", "")
    unreserved = frozenset(string.ascii_letters + string.digits + "-._~")
    for escape in re.findall("%.{0,2}", address):
        assert re.fullmatch("%[0-9A-F]{2}", escape)
        assert chr(int(escape[1:], 16)) not in unreserved
    assert address.isascii()
    assert address.isprintable()


@patient
@given(link=links, rules=canonicalizers)
def test_the_parts_of_a_url_make_the_whole(link: str, rules: Canonicalizer) -> None:
    address = found(rules.canonical(link))
    url, standard = split(address), ada_url.URL(address)
    assert url.origin + url.path == url.text == address
    assert url.path.startswith("/")
    assert url.path == standard.pathname + standard.search
    assert url.origin == standard.origin
    assert url.host == host_of(address) == standard.hostname
    assert url.host.endswith(url.domain)


@patient
@given(link=links, rules=canonicalizers)
def test_normalizing_a_url_never_changes_its_host(link: str, rules: Canonicalizer) -> None:
    address = found(rules.canonical(link))
    before = ada_url.URL(link)
    host = re.sub(r"(?<=[^.])\.$", "", before.hostname)
    assert (host_of(address), ada_url.URL(address).port) == (host, before.port)


@patient
@given(link=links)
def test_no_tracking_or_session_parameter_remains(link: str) -> None:
    address = found(DEFAULT.canonical(link))
    path, _, query = split(address).path.partition("?")
    assert not re.search(r"(?i);(jsessionid|sid|aspsessionid[^;/=]*)=", path)
    assert not re.search(r"(?i)(^|&)(sid|utm_\w*|gclid|jsessionid)(=|&|$)", query)
    assert "" not in query.split("&")[1:]
    assert not re.search(r"/\.\.?(/|$)", path)


@patient
@given(typed=links)
def test_any_typed_text_is_a_url_or_an_error_of_one_line(typed: str) -> None:
    with contextlib.suppress(BadUrl):
        assert parse(typed).text.startswith(("http://", "https://"))
        return
    with pytest.raises(BadUrl) as caught:
        parse(typed)
    assert str(caught.value).isprintable()
