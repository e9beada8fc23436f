"""The character encoding of a page is detected."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from parse.encodings import ENCODING_OF
from parse.encodings import LABELS as STANDARD_LABELS
from periplus.parse.charset import decode
from shared_data import shared

HTML = "text/html"
FRENCH = "café crème brûlée déjà vu"
# Bytes that stand for other characters in almost every encoding, and are unmistakably French if none is declared.
PROBE = FRENCH.encode("latin-1")
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю"
JAPANESE = "いろはにほへと ちりぬるを わかよたれそ つねならむ"
# fmt: off
LABELS = [
    "utf-8", "utf8", "latin1", "iso-8859-1", "ascii", "iso-8859-2", "windows-1251", "koi8-r", "koi8-u",
    "x-mac-cyrillic", "gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "utf-16",
    "utf-16be", "utf-16le", "hz-gb-2312", "x-user-defined", "replacement", "windows-874", "utf-7", "nonsense", "",
]
# fmt: on


def declaring(label: str) -> bytes:
    return f'<!doctype html><meta charset="{label}"><p>'.encode()


# What decides, in this order


def test_a_byte_order_mark_overrides_the_header() -> None:
    assert decode(b"\xef\xbb\xbf" + FRENCH.encode(), "text/html; charset=latin1") == FRENCH


@pytest.mark.parametrize(("mark", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_utf_16_is_detected_by_its_byte_order_mark(mark: bytes, encoding: str) -> None:
    assert decode(mark + RUSSIAN.encode(encoding), HTML) == RUSSIAN


def test_the_header_overrides_the_page() -> None:
    body = declaring("koi8-r") + RUSSIAN.encode("cp1251")
    assert decode(body, "text/html; charset=windows-1251").endswith(RUSSIAN)


def test_a_declaration_overrides_detection() -> None:
    assert decode(declaring("koi8-r") + "чай".encode("koi8-r"), HTML).endswith("чай")


def test_a_declaration_after_a_long_comment_counts() -> None:
    body = b"<!--" + b"x" * 3_000 + b"-->" + declaring("iso-8859-2") + PROBE
    assert decode(body, HTML) == body.decode("iso-8859-2")


def test_an_xml_declaration_counts() -> None:
    body = '<?xml version="1.0" encoding="koi8-r"?><a>чай</a>'
    assert decode(body.encode("koi8-r"), "application/xml") == body


def test_an_xml_declaration_cannot_be_ascii_and_utf_16_at_once() -> None:
    body = f'<?xml version="1.0" encoding="utf-16"?><a>{FRENCH}</a>'
    assert decode(body.encode(), "application/xml") == body


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_xml_in_utf_16_needs_no_byte_order_mark(encoding: str) -> None:
    body = f'<?xml version="1.0"?><a>{FRENCH}</a>'
    assert decode(body.encode(encoding), "application/xml") == body


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "utf-8"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (FRENCH, "latin-1"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (JAPANESE, "iso-2022-jp"),
    ],
)
def test_an_undeclared_encoding_is_detected(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), HTML) == text


def test_a_body_truncated_inside_a_character_is_still_utf_8() -> None:
    assert decode((RUSSIAN + "я").encode()[:-1], HTML) == RUSSIAN + "\N{REPLACEMENT CHARACTER}"


def test_a_latin_1_text_that_ends_in_an_accent_is_not_utf_8() -> None:
    assert decode("un petit café".encode("latin-1"), HTML) == "un petit café"


# What labels mean


@pytest.mark.parametrize("label", ["latin1", "ISO-8859-1", "us-ascii", "windows-1252", "cp1252"])
def test_latin_1_means_windows_1252_as_in_browsers(label: str) -> None:
    assert decode(b"\x80 \x93quoted\x94", f"text/html; charset={label}") == "€ “quoted”"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html;charset=UTF8",
        'text/html; charset="utf-8"',
        "text/html; Charset = utf-8",
        "text/html; a=b;charset=utf-8 ",
    ],
)
def test_a_header_may_be_written_loosely(content_type: str) -> None:
    assert decode(FRENCH.encode(), content_type) == FRENCH


@pytest.mark.parametrize(
    "label", ["nonsense", "", "utf-7", "\N{SNOWMAN}", "\0", "x" * 100_000, "idna", "rot13", "base64"]
)
def test_an_unknown_label_is_ignored(label: str) -> None:
    assert decode(FRENCH.encode(), f"text/html; charset={label}") == FRENCH
    assert decode(declaring(label) + FRENCH.encode(), HTML).endswith(FRENCH)


EVERY_BYTE = bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0xFF))


def test_all_labels_of_the_standard_are_tested() -> None:
    assert (len(STANDARD_LABELS), len(ENCODING_OF)) == (40, 228)


@pytest.mark.parametrize("label", ENCODING_OF)
def test_a_label_in_the_header_has_the_meaning_of_the_standard(label: str) -> None:
    encoding = ENCODING_OF[label]
    assert decode(EVERY_BYTE, f"text/plain; charset={label.upper()}") == EVERY_BYTE.decode(f"whatwg-{encoding}")


@pytest.mark.parametrize("label", ENCODING_OF)
def test_a_label_in_the_page_has_the_meaning_of_the_standard(label: str) -> None:
    """A declaration that can be read as ASCII is not in UTF-16, and x-user-defined in a page is windows-1252."""
    encoding = ENCODING_OF[label]
    in_xml = "UTF-8" if encoding.startswith("UTF-16") else encoding
    in_html = "windows-1252" if encoding == "x-user-defined" else in_xml
    html = declaring(label) + EVERY_BYTE
    assert decode(html, HTML) == html.decode(f"whatwg-{in_html}")
    late = b"<!--" + b"x" * 3_000 + b"-->" + html
    assert decode(late, HTML) == late.decode(f"whatwg-{in_html}")
    xml = f'<?xml version="1.0" encoding="{label}"?><a>'.encode() + EVERY_BYTE
    assert decode(xml, "application/xml") == xml.decode(f"whatwg-{in_xml}")


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("ks_c_5601-1987", "한국어 똠방각하", "cp949"),
        ("gb_2312-80", "简体中文 朱镕基", "gbk"),
        ("gb2312", "简体中文 朱镕基", "gb18030"),
        ("iso_8859-2:1987", "zażółć gęślą jaźń", "iso8859-2"),
        ("iso-8859-9", "ağaç “şey”", "cp1254"),
        ("big5", "繁體中文 啫", "big5hkscs"),
        ("shift_jis", "日本語 ①髙", "cp932"),
        ("x-mac-cyrillic", RUSSIAN, "mac_cyrillic"),
        ("tis-620", "ภาษาไทย", "cp874"),
        ("unicode", RUSSIAN, "utf-16-le"),
    ],
)
def test_labels_name_the_encodings_that_servers_mean(label: str, text: str, codec: str) -> None:
    assert decode(text.encode(codec), f"text/html; charset={label}") == text


@pytest.mark.parametrize("label", ["iso-2022-kr", "hz-gb-2312", "iso-2022-cn"])
def test_encodings_that_hide_markup_in_ascii_give_one_replacement_character(label: str) -> None:
    body = declaring(label) + b"<p>words"
    assert decode(body, HTML) == "\N{REPLACEMENT CHARACTER}"
    assert decode(body, f"text/html; charset={label}") == "\N{REPLACEMENT CHARACTER}"


def test_a_page_cannot_declare_itself_utf_16_in_ascii() -> None:
    assert decode(declaring("utf-16") + FRENCH.encode(), HTML).endswith(FRENCH)


def test_invalid_bytes_become_replacement_characters() -> None:
    assert decode(b"a\xffb\xe2\x82c", "text/html; charset=utf-8") == "a\ufffdb\ufffdc"


# Conformance and hostility


def sniffing_cases() -> Iterator[tuple[bytes, str]]:
    with tarfile.open(shared("html/encoding_sniffing.tar.xz")) as archive:
        files = [file.read() for entry in archive if (file := archive.extractfile(entry)) is not None]
    for part in (part for content in files for part in re.split(rb"(?:^|\n)#data\n", content)[1:]):
        data, _, label = part.partition(b"\n#encoding\n")
        yield data, label.split()[0].decode().lower()


def test_declarations_are_found_where_the_standard_finds_them() -> None:
    cases = list(sniffing_cases())
    assert len(cases) > 80
    for data, label in cases:
        body = data + PROBE
        assert decode(body, HTML) == body.decode(f"whatwg-{label}").removeprefix("\ufeff"), (data, label)


@given(
    st.binary(max_size=200), st.sampled_from(LABELS), st.sampled_from([b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"])
)
def test_any_bytes_under_any_label_give_text_that_can_be_written(body: bytes, label: str, mark: bytes) -> None:
    decode(mark + body, f"text/html; charset={label}").encode("utf-8")
    decode(mark + declaring(label) + body, "").encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda text: text[0] != "\ufeff"))
@settings(max_examples=50)
def test_utf_8_is_always_detected(text: str) -> None:
    assert decode(text.encode(), HTML) == text


BEGINNINGS = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    """<?xml version="1.0" encoding="latin1"?><!DOCTYPE html PUBLIC "x"><html><META http-equiv="Content-Type"
    content='text/html; charset=UTF-8' />""",
    '<html a="><meta charset=utf-8>"><meta charset=shift_jis>',
    "<html><meta name=x charset=shift_jis><meta charset=utf-8>",
    "<html><head><meta name=viewport content='a>b'><meta charset=utf-8>",
    "<html><!-- <meta charset=utf-8> --><meta charset=shift_jis>",
    "<html><head><meta charset=utf-8x>",
)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_the_shortcut_gives_the_same_as_the_prescan(beginning: str) -> None:
    body = beginning.encode() + "<p>é</p>".encode("cp1252")
    told = turbohtml.parse(body[:1024], positions=False)
    encoding = told.encoding.lower() if told.encoding_confidence == "certain" and told.encoding else "windows-1252"
    assert decode(body, "text/html") == body.decode(f"whatwg-{encoding}")
