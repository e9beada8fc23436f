"""Loads the settings of a collection and records which layer set each value.

The layers, each overriding the ones before: defaults, ``periplus.toml``, environment variables, command-line flags. An
environment variable is written ``PERIPLUS_FETCH__TIMEOUT=20``, a list as ``a,b``, a table as ``name=value,name=value``.
A value with a comma can only be written in the file.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from periplus.config.settings import Settings, sections, setting_keys
from periplus.config.value_types import SECRET, Section
from periplus.errors import ConfigError

FILE_NAME = "periplus.toml"
_ENVIRONMENT_PREFIX = "PERIPLUS_"
_NOT_SETTINGS = frozenset({"PERIPLUS_HOME"})
_PLACES = ("fleet.database", "fleet.storage", "fleet.node")
_KEYS_IN_URL = re.compile(r"(://)[^\s']*@")  # keys of Amazon may contain '/'
_INVALID_KEY = "[key]"  # how pydantic marks an invalid key of a table
_RENAMED = {"parse.pdf_seconds": "parse.seconds", "parse.pdf_memory_mb": "parse.memory_mb"}
_PROBLEMS = {  # by the type of a pydantic error
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be a table",
    "extra_forbidden": "unknown setting",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "a value is missing",
    "model_type": "must be a table",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "value_error": "{error}",
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Validated settings, and the layer that set each key."""

    settings: Settings
    origins: dict[str, str]

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Yield key, value and origin of every setting, in the order of the documentation; secrets as `set`."""
        for key in setting_keys():
            section, name = key.split(".")
            value = getattr(getattr(self.settings, section), name)
            yield key, _without_secrets(value), self.origins.get(key, "default")


def _without_secrets(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else ""
    if isinstance(value, dict):
        return {name: _without_secrets(part) for name, part in value.items()}
    return value


def load(
    home: Path, flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Load the settings of the collection in *home*; *flags* maps `section.name` to a value."""
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
            _require_single_value(key, value, origin)
            values[key], origins[key] = value, origin
    return Configuration(_validated(values, origins), origins)


def read_tables(path: Path) -> dict[str, dict[str, Any]]:
    """The tables of a file of settings, checked; empty when there is no such file."""
    values = _from_file(path)
    for key, value in values.items():
        _require_known(key, path.name)
        _require_single_value(key, value, path.name)
    _validated(values, dict.fromkeys(values, path.name))
    return _tables(values)


def secret_keys() -> frozenset[str]:
    """Every `section.name` whose value is never shown."""
    return frozenset(
        f"{section}.{name}"
        for section, model in sections()
        for name, entry in model.model_fields.items()
        if entry.json_schema_extra == SECRET
    )


class Places(NamedTuple):
    """Where a node of a fleet finds what all share; empty: everything is in the collection folder."""

    database: str  # URL, with a password
    storage: str  # URL
    node: str  # the name of this node


def shared_places(home: Path) -> Places:
    """Read only the settings that say where the catalog and the files of a collection are."""
    layers = {FILE_NAME: _from_file(home / FILE_NAME), "environment": _from_environment(os.environ)}
    found = [(key, origin) for origin, layer in layers.items() for key in _PLACES if key in layer]
    if not found:
        return Places("", "", "")
    fleet = _validated({key: layers[origin][key] for key, origin in found}, dict(found)).fleet
    return Places(fleet.database.get_secret_value(), fleet.storage, fleet.node)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except FileNotFoundError:
        return {}
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(
            f"{path} cannot be read", why, "Check that it is a file and that you have read permission."
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path} cannot be read", f"line {line} is not UTF-8 text", "Save it as UTF-8.") from error
    try:
        return dict(_flat_keys(tomllib.loads(text)))
    except (ValueError, RecursionError) as error:
        hint = "Write strings in quotes, lists in brackets, tables under [name]."
        raise ConfigError(f"{path} is not valid TOML", str(error), hint) from error


def _flat_keys(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    known = dict(sections())
    for section, content in tables.items():
        if isinstance(content, dict) and (content or section in known):
            for name, value in content.items():
                yield f"{section}.{name}", value
        else:
            yield section, content


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in sorted(environment.items()):
        if name.startswith(_ENVIRONMENT_PREFIX) and name not in _NOT_SETTINGS:
            key = name[len(_ENVIRONMENT_PREFIX) :].lower().replace("__", ".", 1)
            found[key] = _from_text(key, text)
    return found


def _from_text(key: str, text: str) -> Any:
    """Split lists and tables at commas; pydantic converts numbers and booleans itself."""
    default, parts = _default(key), [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(default, list):
        return parts
    if isinstance(default, dict) and all("=" in part for part in parts):
        return {name.strip(): value.strip() for name, _, value in (part.rpartition("=") for part in parts)}
    return text


def _default(key: str) -> Any:
    section, _, name = key.partition(".")
    field = dict(sections()).get(section, Section).model_fields.get(name)
    return None if field is None else field.get_default(call_default_factory=True)


def _require_known(key: str, origin: str) -> None:
    known, tables = setting_keys(), dict(sections())
    if key in known:
        return
    named = f"{_shortened(_spelling(key, origin))} {_place(origin)}"
    if key in tables:
        example = next(setting for setting in known if setting.startswith(f"{key}."))
        hint = f"Name the setting as well, for example {_spelling(example, origin)!r}."
        raise ConfigError(f"{named} cannot be set", "it is a table of settings", hint)
    if (renamed := _RENAMED.get(key)) is not None:
        hint = f"Write {_spelling(renamed, origin)!r} instead."
        raise ConfigError(f"{named} cannot be set", "it was renamed, because it applies to all pages", hint)
    close = _closest(key, [*known, *tables])
    hint = f"Did you mean {_spelling(close, origin)!r}?" if close else "`periplus config show` lists every setting."
    raise ConfigError(f"unknown setting {named}", hint=hint)


def _closest(key: str, known: list[str]) -> str | None:
    """Find the same name in another table, or else the most similar spelling."""
    same_name = [other for other in known if other.rpartition(".")[2] == key.rpartition(".")[2]]
    close = same_name or difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return close[0] if close else None


def _require_single_value(key: str, value: Any, origin: str) -> None:
    if isinstance(value, dict) and not isinstance(_default(key), dict):
        section, _, name = key.partition(".")
        hint = f"Write `{name} = ...` under [{section}]."
        raise ConfigError(f"{_spelling(key, origin)!r} {_place(origin)} cannot be a table", "it is one setting", hint)


def _place(origin: str) -> str:
    return {"environment": "in the environment", "flag": "on the command line"}.get(origin, f"in {origin}")


def _spelling(key: str, origin: str) -> str:
    """Return the key as it is written in that layer."""
    return _ENVIRONMENT_PREFIX + key.upper().replace(".", "__") if origin == "environment" else key


def _shortened(value: object) -> str:
    """A value for a message, without the password of a URL."""
    text = _KEYS_IN_URL.sub(r"\1********@", repr(value))
    return text if len(text) <= 80 else f"{text[:80]}..."


def _tables(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        tables.setdefault(section, {})[name] = value
    return tables


def _validated(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    try:
        return Settings.model_validate(_tables(values))
    except ValidationError as error:
        raise _config_error(error.errors()[0], origins) from error


def _config_error(problem: ErrorDetails, origins: Mapping[str, str]) -> ConfigError:
    section, name = (str(part) for part in problem["loc"][:2])
    key = f"{section}.{name}"
    origin = origins.get(key, "default")
    why = _explanation(problem)
    field = dict(sections())[section].model_fields[name]
    meaning, is_secret = field.description or "", field.json_schema_extra == SECRET
    path = () if problem["loc"][-1] == _INVALID_KEY else problem["loc"][2:]
    inner = "".join(f".{part}" for part in path if isinstance(part, str) and origin == FILE_NAME)
    value = "" if is_secret else f" = {_shortened(problem['input'])}"
    return ConfigError(f"{_spelling(key, origin)}{inner}{value} {_place(origin)} is not valid", why, meaning)


def _explanation(problem: ErrorDetails) -> str:
    text, values = _PROBLEMS.get(problem["type"]), problem.get("ctx", {})
    if text is None:
        return problem["msg"]
    whole = {name: int(value) for name, value in values.items() if isinstance(value, float) and value.is_integer()}
    return text.format(**{**values, **whole})
