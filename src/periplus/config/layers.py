"""Where does each setting come from?

Values are layered: defaults, then ``periplus.toml``, then the environment (``PERIPLUS_FETCH__TIMEOUT=20``), then
command-line flags.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from periplus.config.settings import Section, Settings, sections, setting_keys
from periplus.errors import ConfigError

FILE_NAME = "periplus.toml"
_ENVIRONMENT_PREFIX = "PERIPLUS_"
_NOT_SETTINGS = frozenset({"PERIPLUS_HOME"})


@dataclass(frozen=True, slots=True)
class Configuration:
    """Validated settings, and for every key the layer that set it."""

    settings: Settings
    origins: dict[str, str]

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Key, value and origin of every setting, in the order of the documentation."""
        for key in setting_keys():
            section, name = key.split(".")
            yield key, getattr(getattr(self.settings, section), name), self.origins.get(key, "default")


def load(
    home: Path, flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Configuration:
    """The settings in force for the collection in *home*; *flags* maps `section.name` to a value."""
    layers = [
        (FILE_NAME, _from_file(home / FILE_NAME)),
        ("environment", _from_environment(os.environ if environment is None else environment)),
        ("flag", dict(flags or {})),
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        for key, value in layer.items():
            _require_known(key, origin)
            values[key], origins[key] = value, origin
    return Configuration(_validated(values, origins), origins)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML", str(error)) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", error.strerror or str(error)) from error
    return dict(_flattened(tables))


def _flattened(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, content in tables.items():
        if isinstance(content, dict):
            for name, value in content.items():
                yield f"{section}.{name}", value
        else:
            yield section, content


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in sorted(environment.items()):
        if name.startswith(_ENVIRONMENT_PREFIX) and name not in _NOT_SETTINGS:
            key = name[len(_ENVIRONMENT_PREFIX) :].lower().replace("__", ".", 1)
            found[key] = _list_or_text(key, text)
    return found


def _list_or_text(key: str, text: str) -> Any:
    """Lists are written with commas in the environment; pydantic reads numbers and booleans from text by itself."""
    section, _, name = key.partition(".")
    field = dict(sections()).get(section, Section).model_fields.get(name)
    is_list = field is not None and isinstance(field.get_default(call_default_factory=True), list)
    return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


def _require_known(key: str, origin: str) -> None:
    known = setting_keys()
    if key in known:
        return
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]!r}?" if close else "`periplus config show` lists every setting."
    raise ConfigError(f"unknown setting {key!r} in {_layer_name(origin)}", hint=hint)


def _layer_name(origin: str) -> str:
    return "the " + origin if origin == "environment" else origin


def _validated(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    tables: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        tables.setdefault(section, {})[name] = value
    try:
        return Settings.model_validate(tables)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"][:2])
        problem = first["msg"].removeprefix("Value error, ")
        where = _layer_name(origins.get(key, "default"))
        raise ConfigError(f"{key} = {first['input']!r} in {where} is not valid", problem) from error
