"""Every error is one line (what happened, why, what to do) with an exit code for scripts."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

from periplus import errors
from periplus.errors import DiskFull, PeriplusError

CLASSES = {name: kind for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PeriplusError)}


def drawn_tree() -> dict[str, tuple[str | None, int | None]]:
    """Map each name to its parent and exit code, as drawn at the top of the module; None: the code of the parent."""
    branches: list[str] = []
    tree: dict[str, tuple[str | None, int | None]] = {}
    for line in inspect.cleandoc(errors.__doc__ or "").splitlines():
        found = re.fullmatch(r" {4}((?:[│ ] {3}|[├└]── )*)([A-Z]\w+) +(?:exit (\d+))? +\S.*", line)
        if found:
            indent, name, code = found.groups()
            del branches[len(indent) // 4 :]
            tree[name] = (branches[-1] if branches else None, int(code) if code else None)
            branches.append(name)
    return tree


def parent_of(kind: type[PeriplusError]) -> str | None:
    return None if kind is PeriplusError else kind.__bases__[0].__name__


def test_every_error_is_in_the_drawn_tree() -> None:
    assert list(drawn_tree()) == sorted(CLASSES, key=lambda name: inspect.getsourcelines(CLASSES[name])[1])


def test_every_error_has_the_parent_in_the_drawn_tree() -> None:
    parents = {name: parent for name, (parent, _) in drawn_tree().items()}
    assert parents == {name: parent_of(kind) for name, kind in CLASSES.items()}


def test_every_exit_code_is_the_one_in_the_drawn_tree() -> None:
    tree = drawn_tree()

    def code(name: str) -> int:
        parent, own = tree[name]
        return own if own is not None else code(parent or "")

    assert {name: code(name) for name in tree} == {name: kind.exit_code for name, kind in CLASSES.items()}
    assert {kind.exit_code for kind in CLASSES.values()} == {1, 2, 3, 130}


@pytest.mark.parametrize("name", CLASSES)
def test_every_error_has_a_docstring(name: str) -> None:
    assert CLASSES[name].__doc__


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PeriplusError("it broke"), "it broke"),
        (PeriplusError("it broke", "too old"), "it broke: too old"),
        (PeriplusError("it broke", hint="Mend it."), "it broke. Mend it."),
        (PeriplusError("it broke", "too old", "Mend it."), "it broke: too old. Mend it."),
        (PeriplusError("it broke", "too old.", "Mend it."), "it broke: too old. Mend it."),
        (PeriplusError("it\nbroke", "too\r\n\n   old\n", "Mend\u2028it.\n"), "it broke: too old. Mend it."),
    ],
)
def test_an_error_is_one_line_with_what_why_and_what_to_do(error: PeriplusError, line: str) -> None:
    assert str(error) == line


def test_an_error_from_another_process_has_the_same_message() -> None:
    error = DiskFull("no room", "the disk is full", "Delete something.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is DiskFull
    assert (copy.what, copy.why, copy.hint, str(copy)) == (error.what, error.why, error.hint, str(error))
