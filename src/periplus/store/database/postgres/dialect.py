"""Reads the statements of the catalog in the SQL of PostgreSQL."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from periplus.store.database.database import CATALOG_FILES
from periplus.store.database.sql_files import read_statements

PACKAGE = "periplus.store.database.postgres"
# These win over the statements of the same name in `periplus.store.catalog`.
_OTHER_FORMS = ("statements.sql", "fleet.sql", "uploads.sql")
_COMMENT = re.compile(r"--.*")
_PLACEHOLDER = re.compile(r"\?(\d*)")
_TRANSLATIONS = (
    (re.compile(r"\binstr\("), "strpos("),
    (re.compile(r"\bchar\(59\)"), "chr(59)"),
    (re.compile(r"\b9e999\b"), "'infinity'::float8"),
    (
        re.compile(r"\bIN \(SELECT value FROM json_each\((\$\d+)\)\)"),
        r"= ANY(ARRAY(SELECT value::integer FROM json_array_elements_text(\1::json)))",
    ),
    (re.compile(r"\b(forgotten|forgotten_host|forgotten_origin|scrubbed)\("), r"pg_temp.\1("),
)
_COLUMNS = re.compile(r"^-- columns: (.*)$", re.MULTILINE)
_KEY = re.compile(r"^-- key: (.*)$", re.MULTILINE)


class Bulk(NamedTuple):
    """A statement that writes many rows from a temporary table."""

    table: str  # its name
    columns: str  # with their types
    key: tuple[int, ...]  # positions of the columns in which rows must differ; empty: rows may be equal
    statement: str


def translated(text: str) -> str:
    """A statement, or a part of one, with the placeholders and functions of PostgreSQL."""
    numbers = count(1)
    text = _PLACEHOLDER.sub(lambda found: f"${found[1] or next(numbers)}", _COMMENT.sub("", text))
    for pattern, replacement in _TRANSLATIONS:
        text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=1)
def statements() -> dict[str, str]:
    """Every statement of the catalog, by name."""
    files = [(CATALOG_FILES.package, name) for name in CATALOG_FILES.statements]
    files += [(PACKAGE, name) for name in _OTHER_FORMS]
    found = {name: text for package, file in files for name, text in read_statements(package, file).items()}
    return {name: translated(text) for name, text in found.items()}


@lru_cache(maxsize=1)
def bulk_statements() -> dict[str, Bulk]:
    """The statements for many rows at once, by name."""
    return {name: _bulk(name, text) for name, text in read_statements(PACKAGE, "bulk.sql").items()}


def _bulk(name: str, text: str) -> Bulk:
    (columns,) = _COLUMNS.findall(text)
    names = [column.split()[0] for column in columns.split(", ")]
    key = [name for line in _KEY.findall(text) for name in line.split(", ")]
    return Bulk(f"batch_{name}", columns, tuple(map(names.index, key)), text)
