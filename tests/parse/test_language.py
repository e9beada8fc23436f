from __future__ import annotations

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from parse.documents import real_pages
from periplus.parse.charset import decode
from periplus.parse.language import SAMPLE, Language, code_of, detect, primary

_TEXTS = {
    "en": "The harbour lies behind a long sandbank, and ships wait there for the flood before they enter it.",
    "de": "Der Hafen liegt hinter einer langen Sandbank, und die Schiffe warten dort, bis die Flut kommt.",
    "fr": "Le port se trouve derrière un long banc de sable, et les navires y attendent la marée haute.",
    "es": "El puerto está detrás de un largo banco de arena, y los barcos esperan allí la marea alta.",
    "pl": "Port leży za długą piaszczystą ławicą, a statki czekają tam na przypływ, zanim do niego wejdą.",
    "ru": "Гавань лежит за длинной песчаной отмелью, и корабли ждут там прилива, прежде чем войти в неё.",
    "el": "Πίσω είναι πίσω από μια μακριά αμμώδη όχθη και τα πλοία περιμένουν εκεί την παλίρροια.",
    "zh": "港口位于一条长长的沙洲后面,船只在那里等待涨潮,然后才进入港口。海员们记录了沿岸的每一个港口。",
    "ja": "港は長い砂州の後ろにあり、船は潮が満ちるのを待ってから港に入ります。船乗りたちは港を記録しました。",
    "ar": "يقع الميناء خلف ضفة رملية طويلة، وتنتظر السفن هناك المد قبل أن تدخل إليه مع بداية الصباح.",
    "he": "הנמל נמצא מאחורי שרטון חול ארוך, והאוניות ממתינות שם לגאות לפני שהן נכנסות אליו.",
}


@pytest.mark.parametrize("code", _TEXTS)
def test_a_language_is_detected_from_the_text(code: str) -> None:
    found = detect(_TEXTS[code])
    assert found.code == code
    assert found.certainty > 0.9


@pytest.mark.parametrize("code", _TEXTS)
def test_the_text_outweighs_the_declared_language(code: str) -> None:
    assert detect(_TEXTS[code] * 2, "en-US" if code != "en" else "de").code == code


@pytest.mark.parametrize("text", ["", "12:30", "Album: Purple Rain"])
def test_the_declaration_decides_where_the_text_is_too_short(text: str) -> None:
    assert detect(text, "de-AT") == Language("de", 0.5)


def test_an_empty_text_has_no_language() -> None:
    assert detect("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18") == Language("", 0.0)


def test_only_the_beginning_is_examined() -> None:
    text = (_TEXTS["de"] + " ") * 20
    assert detect(text + _TEXTS["ru"] * 1_000) == detect(text[: SAMPLE + 1])


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("en", "en"),
        ("EN_us", "en"),
        (" pt-BR ", "pt"),
        ("zh-Hant-TW", "zh"),
        ("iw", "he"),
        ("nb-NO", "no"),
        ("gsw", "gsw"),
        ("english", ""),
        ("und", ""),
        ("x", ""),
        ("", ""),
        ("{{lang}}", ""),
    ],
)
def test_a_tag_is_reduced_to_its_language(tag: str, code: str) -> None:
    assert primary(tag) == code


@given(st.text(max_size=300), st.text(max_size=12))
def test_any_text_and_any_declaration_is_accepted(text: str, declared: str) -> None:
    found = detect(text, declared)
    assert 0 <= found.certainty <= 1
    assert found.code == primary(found.code)


def test_real_pages_have_the_same_language_whatever_they_declare() -> None:
    """On long texts the declared language changes nothing."""
    pages = {name: decode(body, "") for name, body in list(real_pages().items())[::5]}
    swayed = []
    for name, html in pages.items():
        text = turbohtml.parse(html, positions=False).main_text()
        alone = detect(text)
        if alone.certainty > 0.9 and len(text) > 300 and detect(text, "it").code != alone.code != "it":
            swayed.append(name)
    assert not swayed


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("de", "de"),
        ("German", "de"),
        ("de-AT", "de"),
        ("NORWEGIAN", "no"),
        ("nb", "no"),
        ("Chinese", "zh"),
        ("hebrew", "he"),
        ("xx", ""),
        ("klingonese", ""),
        ("zzb", ""),
        ("", ""),
    ],
)
def test_a_language_has_a_code_by_its_english_name_or_tag(name: str, code: str) -> None:
    assert code_of(name) == code
