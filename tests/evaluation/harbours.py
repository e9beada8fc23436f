"""A small collection about harbours, with judged queries for it."""

from __future__ import annotations

from pathlib import Path

from search.library import Doc

_PLACES = """
    ostia pharos tyre sidon byblos carthage utica gades massalia corinth piraeus rhodes ephesus miletus delos
    brundisium puteoli ravenna aquileia tarentum syracuse leptis caesarea joppa
"""
PLACES = _PLACES.split()


def pages() -> list[Doc]:
    """Two pages for each place: one is about it, and one mentions it often in its text."""
    found = []
    for place in PLACES:
        about = f"The town of {place} has a harbour with a lighthouse, and ships come and go every day of the year."
        often = f"A list of voyages: to {place}, from {place}, past {place} and back to {place} in one summer."
        found.append(Doc(f"http://{place}.test/harbour", f"The harbour of {place}", about))
        found.append(Doc(f"http://voyages.test/{place}", "Voyages of a merchant", often))
    return found


def queries(*, right: str = "http://{place}.test/harbour") -> str:
    """One query for each place, in the form with three columns."""
    return "".join(
        f"{'nav' if number % 2 else 'inf'}{number:03}\t{place} voyages\t{right.format(place=place)}\n"
        for number, place in enumerate(PLACES)
    )


def write_queries(folder: Path, *, right: str = "http://{place}.test/harbour") -> Path:
    """The file of judged queries."""
    path = folder / "queries.tsv"
    path.write_text(queries(right=right))
    return path
