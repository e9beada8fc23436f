"""Reads judged queries: which documents answer which query, and how well.

There are two forms. TREC: a file of `id<TAB>text`, and qrels with `query 0 document grade`. Or one file with the
answers in a third column: `id<TAB>text<TAB>document[=grade] ...`, where the grade is 3 unless stated.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from periplus.errors import UsageError
from periplus.evaluation.metrics import Scale

TRAIN, DEV = "train", "dev"
_USUAL_GRADE = 3
_FEWEST_IN_CLASS = 5
_ANSWER = re.compile(r"(.*?)(?:=(\d))?")
_SCHEME, _PORT = re.compile(r"^[a-z]+://", re.IGNORECASE), re.compile(r":\d+$")
_INDEX_FILE, _SUFFIX = re.compile(r"(^|/)index\.html?$"), re.compile(r"\.html?$")
_ID = re.compile(r"([A-Za-z]+)\W*\d+([a-z]{2})?")


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query, and the grades of the documents that were judged for it."""

    id: str
    text: str
    grades: Mapping[str, int]  # by the key of a document; 0: wrong
    documents: Mapping[str, str]  # the name of each document in the file, by key

    @property
    def groups(self) -> list[str]:
        """The class of the query and its language, from its id: `inf106de` is of class inf, in German."""
        found = _ID.fullmatch(self.id)
        return [group for group in found.groups() if group] if found else []

    @property
    def split(self) -> str:
        """The half of the queries that this one belongs to; fixed by its id."""
        return TRAIN if hashlib.sha1(self.id.encode(), usedforsecurity=False).digest()[0] < 128 else DEV


@dataclass(frozen=True, slots=True)
class Judgements:
    """Judged queries, and what their grades mean."""

    queries: Sequence[JudgedQuery]
    scale: Scale

    def only(self, queries: Sequence[JudgedQuery]) -> Judgements:
        """Some of the queries; the meaning of grades stays the same."""
        return replace(self, queries=queries)

    def split(self, name: str) -> Judgements:
        """One half of the queries."""
        return self.only([query for query in self.queries if query.split == name])

    def groups(self) -> dict[str, list[str]]:
        """The ids of the queries by class, then by language, when two groups have at least five queries."""
        groups: dict[tuple[int, str], list[str]] = {}
        for query in self.queries:
            for place, group in enumerate(query.groups):
                groups.setdefault((place, group), []).append(query.id)
        large = {name: ids for (_, name), ids in sorted(groups.items()) if len(ids) >= _FEWEST_IN_CLASS}
        return large if len(large) > 1 else {}


def address_key(url: str) -> str:
    """The URL without what does not tell pages apart: scheme, port, query, fragment, index.html, .html, last slash."""
    host, _, path = _SCHEME.sub("", url.strip()).split("#")[0].split("?")[0].partition("/")
    path = _SUFFIX.sub("", _INDEX_FILE.sub(r"\1", unquote(path)).rstrip("/"))
    return f"{_PORT.sub('', host.lower())}/{path}"


def read_judgements(queries: Path, qrels: Path | None, key: Callable[[str], str]) -> Judgements:
    """The queries that have at least one right answer; *key* makes names of documents comparable."""
    rows = list(_query_rows(queries, with_answers=qrels is None))
    repeated = [name for name, count in Counter(name for name, _, _ in rows).items() if count > 1]
    if repeated:
        raise UsageError(f"{queries} has several queries with the id {repeated[0]!r}")
    answers = _qrels(qrels) if qrels is not None else {name: _answers(text) for name, _, text in rows}
    judged = [_judged(name, text, answers.get(name, []), key) for name, text, _ in rows]
    found = [query for query in judged if any(grade > 0 for grade in query.grades.values())]
    if not found:
        raise UsageError(
            f"no query in {queries} has an answer", hint="The ids of queries and judgements must be the same."
        )
    return Judgements(found, _scale(found, exponential=qrels is None))


def _scale(queries: Sequence[JudgedQuery], *, exponential: bool) -> Scale:
    """When every query has a document of grade 2, documents of grade 1 are useful but not right."""
    return Scale(2 if all(max(query.grades.values()) >= 2 for query in queries) else 1, exponential)


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers, without empty lines."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from ((number, line.rstrip("\n")) for number, line in enumerate(file, 1) if line.strip())
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read", "it is not UTF-8 text", "Save it as UTF-8.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read", error.strerror or str(error)) from error


def _query_rows(path: Path, *, with_answers: bool) -> Iterator[tuple[str, str, str]]:
    form = "id<TAB>text<TAB>document[=grade] ..." if with_answers else "id<TAB>text"
    for number, line in lines_of(path):
        if line.startswith("#"):
            continue
        name, _, rest = line.partition("\t")
        text, tab, answers = rest.partition("\t")
        if not name.strip() or not text.strip() or (with_answers and not tab):
            hint = "Without --qrels, the answers are in a third column." if with_answers else ""
            raise UsageError(f"line {number} of {path} is not `{form}`", hint=hint)
        yield name.strip(), text.strip(), answers


def _answers(text: str) -> list[tuple[str, int]]:
    found = [_ANSWER.fullmatch(answer) for answer in text.split()]
    return [(one[1], int(one[2] or _USUAL_GRADE)) for one in found if one]


def _qrels(path: Path) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for number, line in lines_of(path):
        try:
            query, _, document, grade = line.split()
            found.setdefault(query, []).append((document, int(grade)))
        except ValueError:
            raise UsageError(f"line {number} of {path} is not `query 0 document grade`") from None
    return found


def _judged(name: str, text: str, answers: list[tuple[str, int]], key: Callable[[str], str]) -> JudgedQuery:
    grades: dict[str, int] = {}
    documents: dict[str, str] = {}
    for document, grade in answers:
        grades[key(document)] = max(grade, 0)
        documents[key(document)] = document
    return JudgedQuery(name, text, grades, documents)
