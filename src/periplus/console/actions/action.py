"""What an action is: a function on the fields of a form, and the question that the console asks before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from periplus.config import Settings, load
from periplus.console.reader import Sources
from periplus.errors import UsageError
from periplus.store.collection import Collection, open_collection

Form = Mapping[str, str]  # the fields of a form


@dataclass(frozen=True)
class Desk:
    """What an action works on."""

    sources: Sources
    origin: str  # console or api

    @property
    def home(self) -> Path:
        """The folder of the collection."""
        return self.sources.home

    @cached_property
    def collection(self) -> Collection:
        """The collection."""
        return open_collection(self.home)

    @cached_property
    def settings(self) -> Settings:
        """The settings now."""
        return load(self.home).settings


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action has done."""

    sentence: str
    facts: dict[str, Any] = field(default_factory=dict)  # for programs


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the owner can do."""

    name: str  # the last part of its path
    perform: Callable[[Desk, Form], Outcome]
    label: str  # of the button that confirms it
    question: Callable[[Form], str] | None = None  # asked before; None: not asked


def required(form: Form, name: str, longest: int = 4_096) -> str:
    """A field that must be there."""
    text = form.get(name, "").strip()
    if not text:
        raise UsageError(f"the field {name!r} is missing")
    if len(text) > longest:
        raise UsageError(f"the field {name!r} is too long ({len(text):,} characters)", f"the limit is {longest:,}")
    return text


def lines_of(form: Form, name: str) -> list[str]:
    """The lines of a text area, without blank ones."""
    return [line.strip() for line in form.get(name, "").splitlines() if line.strip()]
