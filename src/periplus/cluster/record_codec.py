"""Turns the records that a broker and its shard nodes exchange into bytes and back, guided by their types.

A message begins with the length of its JSON part (4 bytes) and the JSON part. Arrays and byte strings follow as they
are in memory, each padded to 8 bytes. A record is the list of its fields. A member of a union begins with the name of
its class. What does not match the expected type raises `WireError`, so a reader never gets a value of another type.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from threading import RLock
from typing import Any, TypeVar, Union

import numpy as np
import orjson

_HEAD_BYTES = 4
_ALIGNMENT = 8
_Value = TypeVar("_Value")
_SEQUENCES = {tuple: tuple, list: list, Sequence: list, set: set, frozenset: frozenset, AbstractSet: set}


class WireError(ValueError):
    """A message is not one of the expected type."""


def _unfinished(value: Any, blobs: Any) -> Any:
    raise TypeError(value, blobs)


class _Blobs:
    """The arrays and byte strings of one message."""

    def __init__(self, data: memoryview | bytes = b"") -> None:
        self.parts: list[bytes | memoryview] = []
        self.size = 0
        self._data = memoryview(data)

    def add(self, part: bytes | memoryview) -> tuple[int, int]:
        """Append a part; returns its place."""
        place, length = self.size, len(part)
        padding = -length % _ALIGNMENT
        self.parts += [part, bytes(padding)]
        self.size += length + padding
        return place, length

    def get(self, place: Any, length: Any) -> memoryview:
        """The part at a place."""
        if not (_is_count(place) and _is_count(length) and place + length <= len(self._data)):
            raise WireError("a part of the message is missing")
        return self._data[place : place + length]


_Encode = Callable[[Any, _Blobs], Any]
_Pair = tuple[_Encode, _Encode]  # encodes and decodes


@dataclass(slots=True)
class _Codec:
    """Encodes and decodes the values of one type."""

    encode: _Encode = _unfinished
    decode: _Encode = _unfinished


def encode(kind: Any, value: object) -> bytes:
    """The message with a value of a type."""
    blobs = _Blobs()
    text = orjson.dumps(_codec(kind).encode(value, blobs))
    padding = b" " * (-(len(text) + _HEAD_BYTES) % _ALIGNMENT)
    head = (len(text) + len(padding)).to_bytes(_HEAD_BYTES, "little")
    return b"".join([head, text, padding, *blobs.parts])


def decode(kind: type[_Value], message: bytes) -> _Value:
    """The value in a message; raises `WireError` unless it is of the expected type. Arrays are read-only."""
    end = _HEAD_BYTES + int.from_bytes(message[:_HEAD_BYTES], "little")
    if len(message) < max(end, _HEAD_BYTES):
        raise WireError("the message is cut off")
    try:
        value = orjson.loads(message[_HEAD_BYTES:end])
        return typing.cast("_Value", _codec(kind).decode(value, _Blobs(memoryview(message)[end:])))
    except orjson.JSONDecodeError as error:
        raise WireError(f"not JSON: {error}") from error
    except RecursionError:
        raise WireError("the message is nested too deeply") from None


_codecs: dict[Any, _Codec] = {}
_building: dict[Any, _Codec] = {}  # with the types inside the type that is being built
_lock = RLock()


def _codec(kind: Any) -> _Codec:
    """The codec of a type; types may contain themselves."""
    found = _codecs.get(kind)
    if found is not None:
        return found
    with _lock:
        if kind in _building:
            return _building[kind]
        is_outermost = not _building
        found = _building[kind] = _Codec()
        try:
            found.encode, found.decode = _make(kind)
            if is_outermost:
                _codecs.update(_building)
        finally:
            if is_outermost:
                _building.clear()
    return found


def _make(kind: Any) -> _Pair:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _SCALARS:
        return _scalar(kind)
    if kind is bytes:
        return _encode_bytes, _decode_bytes
    if origin is np.ndarray:
        return _array(typing.get_args(arguments[1])[0])
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        return _fixed(arguments, tuple)
    if origin in _SEQUENCES:
        return _sequence(arguments[0], _SEQUENCES[origin])
    if origin in (dict, Mapping):
        return _mapping(*arguments)
    return _class(kind)


def _class(kind: Any) -> _Pair:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind)
    if not (is_dataclass(kind) or hasattr(kind, "_fields")):
        raise TypeError(f"{kind} cannot be sent")
    hints = typing.get_type_hints(kind)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else kind._fields
    return _fixed([hints[name] for name in names], lambda values: kind(*values), names)


def _scalar(kind: type) -> _Pair:
    accepted = _SCALARS[kind]

    def checked(value: Any, blobs: _Blobs) -> Any:
        del blobs
        if type(value) not in accepted:
            raise WireError(f"{value!r:.50} is no {kind.__name__}")
        return kind(value) if value is not None else None

    def plain(value: Any, blobs: _Blobs) -> Any:
        del blobs
        return value if value is None else kind(value)

    return plain, checked


_SCALARS: dict[Any, tuple[type, ...]] = {
    bool: (bool,),
    int: (int,),
    float: (float, int),
    str: (str,),
    type(None): (type(None),),
}


def _encode_bytes(value: Any, blobs: _Blobs) -> Any:
    return blobs.add(value)


def _decode_bytes(value: Any, blobs: _Blobs) -> bytes:
    return bytes(blobs.get(*_items(value, 2)))


def _array(scalar: Any) -> _Pair:
    dtype = np.dtype(scalar)

    def encode_array(value: Any, blobs: _Blobs) -> Any:
        array = np.ascontiguousarray(value, dtype)
        return [*blobs.add(array.tobytes()), *np.shape(value)]

    def decode_array(value: Any, blobs: _Blobs) -> Any:
        items = _items(value)
        place, length, shape = *_items(items[:2], 2), items[2:]
        if not all(map(_is_count, shape)):
            raise WireError("an array has no shape")
        try:
            return np.frombuffer(blobs.get(place, length), dtype).reshape(shape)
        except ValueError:
            raise WireError("an array has another shape than it says") from None

    return encode_array, decode_array


def _union(kinds: Sequence[Any]) -> _Pair:
    """None is null; of several classes, the name of the class comes first."""
    classes = [kind for kind in kinds if kind is not type(None)]
    codecs = {kind.__name__: _codec(kind) for kind in classes} if len(classes) > 1 else {}
    only = None if codecs else _codec(classes[0])

    def encode_one(value: Any, blobs: _Blobs) -> Any:
        if value is None:
            return None
        name = type(value).__name__
        return only.encode(value, blobs) if only else [name, codecs[name].encode(value, blobs)]

    def decode_one(value: Any, blobs: _Blobs) -> Any:
        if value is None and len(classes) < len(kinds):
            return None
        if only:
            return only.decode(value, blobs)
        name, inner = _items(value, 2)
        if not isinstance(name, str) or name not in codecs:
            raise WireError(f"{name!r:.50} is none of {', '.join(codecs)}")
        return codecs[name].decode(inner, blobs)

    return encode_one, decode_one


def _fixed(kinds: Sequence[Any], make: Callable[[Any], Any], names: Sequence[str] = ()) -> _Pair:
    """A tuple of values of different types, or a record with these fields."""
    codecs = [_codec(kind) for kind in kinds]

    def encode_all(value: Any, blobs: _Blobs) -> Any:
        values = [getattr(value, name) for name in names] if names else value
        return [codec.encode(one, blobs) for codec, one in zip(codecs, values, strict=True)]

    def decode_all(value: Any, blobs: _Blobs) -> Any:
        values = _items(value, len(codecs))
        return make([codec.decode(one, blobs) for codec, one in zip(codecs, values, strict=True)])

    return encode_all, decode_all


def _sequence(kind: Any, make: Callable[[Any], Any]) -> _Pair:
    codec = _codec(kind)
    return (
        lambda value, blobs: [codec.encode(one, blobs) for one in value],
        lambda value, blobs: make([codec.decode(one, blobs) for one in _items(value)]),
    )


def _mapping(key: Any, kind: Any) -> _Pair:
    encode_pairs, decode_pairs = _sequence(tuple[key, kind], dict)
    return lambda value, blobs: encode_pairs(value.items(), blobs), decode_pairs


def _enum(kind: type[Enum]) -> _Pair:
    def decode_name(value: Any, blobs: _Blobs) -> Any:
        del blobs
        if not isinstance(value, str) or value not in kind.__members__:
            raise WireError(f"{value!r:.50} is no {kind.__name__}")
        return kind[value]

    def encode_name(value: Any, blobs: _Blobs) -> Any:
        del blobs
        return value.name

    return encode_name, decode_name


def _items(value: Any, count: int | None = None) -> list[Any]:
    if not isinstance(value, list) or count not in (None, len(value)):
        raise WireError(f"{value!r:.50} is not the expected list")
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
