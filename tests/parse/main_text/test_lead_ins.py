"""Lines that lead away from a page are found by their first words, in many languages."""

from __future__ import annotations

import pytest

from periplus.parse.main_text.lead_ins import lead_ins


@pytest.mark.parametrize(
    "line",
    [
        "Read more: the pirates of the coast",
        "SHARE THIS",
        "Be Sociable, Share!",
        "Photo: Nearchus",
        "Mehr zum Thema",
        "» Lesen Sie auch: Pirata in vista",
        "Zurück zur Übersicht",
        "ANZEIGE",
        "À lire aussi » Les pirates",
        "VEA TAMBIÉN: los piratas",
        "Leggi anche: i pirati",
        "Czytaj także: piraci",
        "Читайте также: пираты",
    ],
)
def test_a_line_that_leads_elsewhere_is_found(line: str) -> None:
    assert lead_ins(["The harbour lies at the mouth of a river.", line]) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "Read moreover the signs of the sky",
        "Shared objects have a number",
        "Photography was not yet known",
        "Anzeige der Ergebnisse",
        "Tags are labels of commits",
        "See also: the chapter about anchors",
        "-",
        "Share this" + " and every other word about the winds of the ocean" * 3,
    ],
)
def test_a_line_of_text_is_not(line: str) -> None:
    assert lead_ins([line]) == []
