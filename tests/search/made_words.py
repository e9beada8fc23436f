"""A collection whose words are known, for tests of spelling, completion and related searches."""

from __future__ import annotations

from pathlib import Path

from search.library import Doc, index, shelve

SITE = "http://a.test/"
_SUBJECTS = {"environment": 150, "matching": 10, "database": 10, "password": 10, "traffic": 40}  # number of pages


def pages() -> list[Doc]:
    """Many pages about a few subjects, and some pages with rare words."""
    many = [
        Doc(
            f"{SITE}{subject}/{number}",
            title=f"{subject.title()} number {number}",
            text=f"Everything about the {subject} of a system, part {number}. Tables and labels are explained.",
        )
        for subject, count in _SUBJECTS.items()
        for number in range(count)
    ]
    return [
        *many,
        Doc(f"{SITE}hash", title="Hash Tables", headings=("Hash tables in Python",), text="Hash tables map keys. " * 5),
        Doc(f"{SITE}pattern", title="Pattern Matching", headings=("3.1. Guards",), text="Pattern matching in Rust."),
        Doc(f"{SITE}magick", title="mogrify - ImageMagick", text="The mogrify tool changes an image in place."),
        Doc(f"{SITE}modify", title="Modify files", text="Modify one file, modify many files. " * 5),
        Doc(f"{SITE}rare", title="A slip", text="This page writes enviroment once, and readFileSync twice."),
        Doc(f"{SITE}theme", title="Environmint", text="A green theme."),
        Doc(f"{SITE}dose", title="Dose", text="The dose of a medicine."),
        Doc(f"{SITE}unicode", title="Normalization of texts", text="The normalization of Unicode texts."),
        Doc(f"{SITE}coffee", title="Café au lait", text="Un café, deux cafés.", language="fr"),
        Doc(f"{SITE}reseau", title="Le réseau", text="Le trafic du réseau et le mot de passe.", language="fr"),
        Doc(f"{SITE}traffic", title="Traffic shaping", text="Traffic shaping limits network traffic. " * 5),
        Doc(f"{SITE}layers", title="レイヤーマスク", text="レイヤーマスクの表示", language="ja"),
    ]


def made_generation(home: Path) -> Path:
    """Index the pages; returns the folder of the generation."""
    collection = shelve(home, pages())
    index(collection)
    (folder,) = collection.index.glob("gen-*")
    return folder
