"""The shards of one generation on other machines, for the engine of a broker.

`ask` runs the callback on a proxy that records each method call. It sends all recorded calls at once, then replays the
callback with the answers. So no thread waits for each shard, and a callback may call several methods.
"""

from __future__ import annotations

import inspect
import logging
import typing
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, cast

from periplus.cluster.fan_out import FanOut
from periplus.cluster.protocol import MOST_BLOCKS, MOST_RESULTS, MOST_TEXTS, ShardRequest
from periplus.cluster.record_codec import WireError, decode, encode
from periplus.search.shards.port import Answer, Shard

logger = logging.getLogger("periplus.cluster")


_BOUNDS = {"blocks": MOST_BLOCKS, "most": MOST_RESULTS}  # of numbers, which begin with 1; by name of the argument
_LENGTHS = {("texts", "numbers"): MOST_TEXTS}  # of lists, by method and name of the argument
_BY_BYTES = frozenset({"terms", "boosts"})  # lists that only the size of the request bounds: an item costs little


class Method(NamedTuple):
    """A method of the port of a shard."""

    name: str
    signature: inspect.Signature
    arguments: Any  # the type of the tuple of its arguments
    answer: Any  # type

    def encode_arguments(self, *values: Any, **named: Any) -> bytes:
        """The message with the arguments of a call."""
        return encode(self.arguments, self.signature.bind(None, *values, **named).args[1:])

    def decode_arguments(self, message: bytes) -> tuple[Any, ...]:
        """The arguments in a message; raises `WireError` for those that no broker sends.

        tantivy reserves memory for as many results as are asked for: a huge number would end the process.
        """
        values: tuple[Any, ...] = decode(self.arguments, message)
        for name, value in zip(list(self.signature.parameters)[1:], values, strict=True):
            if name in _BOUNDS and not 1 <= value <= _BOUNDS[name]:
                raise WireError(f"{name} must be between 1 and {_BOUNDS[name]}")
            longest = _LENGTHS.get((self.name, name), MOST_RESULTS)
            if isinstance(value, list) and name not in _BY_BYTES and len(value) > longest:
                raise WireError(f"{name} has more than {longest} items")
        return values


def _method(function: Callable[..., Any]) -> Method:
    hints = typing.get_type_hints(function)
    answer = hints.pop("return")
    return Method(
        function.__name__, inspect.signature(function), tuple.__class_getitem__(tuple(hints.values())), answer
    )


METHODS = {
    name: _method(function)
    for name, function in vars(Shard).items()
    if inspect.isfunction(function) and not name.startswith("_")
}


class RemoteShards:
    """The group of all shards of one generation, on nodes; safe to share between threads."""

    def __init__(
        self,
        fan_out: FanOut,
        generation: str,
        shards: int,
        timeout: float,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """*generation*: id. *timeout*: seconds for the answers to one round of requests. *close*: closes files."""
        self._fan_out, self._generation, self._shards, self._timeout = fan_out, generation, shards, timeout
        self.close = close

    @property
    def shards(self) -> int:
        """The number of shards of the generation, missing ones too."""
        return self._shards

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        """Makes the same call to the chosen shards at once, by default to all; a missing shard gives no answer."""
        shards = range(self._shards) if chosen is None else sorted(chosen)
        waiting, answers = {shard: _ShardProxy() for shard in shards}, dict[int, Answer]()
        while waiting:
            requests = {}
            for shard, proxy in list(waiting.items()):
                try:
                    answers[shard] = call(cast("Shard", proxy))
                    del waiting[shard]
                except _PendingCall as wanted:
                    requests[shard] = wanted
            for shard in self._missing(requests, waiting):
                del waiting[shard]
        return {shard: answers[shard] for shard in shards if shard in answers}

    def _missing(self, requests: dict[int, _PendingCall], waiting: dict[int, _ShardProxy]) -> list[int]:
        """Send the requests and give the answers to the proxies; returns the shards without an answer."""
        bodies: dict[tuple[Any, ...], bytes] = {}  # most shards are asked the same
        asked = []
        for shard, wanted in requests.items():
            body = bodies.get(wanted.key) or bodies.setdefault(wanted.key, wanted.body())
            asked.append(ShardRequest(self._generation, shard, wanted.method, body))
        found = self._fan_out.ask(asked, self._timeout) if asked else []
        return [
            request.shard
            for request, answer in zip(asked, found, strict=True)
            if answer is None or not waiting[request.shard].store(request.method, answer)
        ]


class _PendingCall(Exception):  # noqa: N818  # not an error: the request must be sent first
    """A method call whose answer has not arrived yet; ends a run of the callback."""

    def __init__(self, method: str, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        super().__init__(method)
        self.method, self._values, self._named = method, values, named

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for equal requests of one round, as long as their arguments exist."""
        return self.method, *map(id, self._values), *((name, id(value)) for name, value in self._named.items())

    def body(self) -> bytes:
        """The message with the arguments."""
        return METHODS[self.method].encode_arguments(*self._values, **self._named)


class _ShardProxy:
    """Returns the answers of a shard in the order of the calls; raises `_PendingCall` at the first without one."""

    def __init__(self) -> None:
        self._known: list[Any] = []
        self._next = 0

    def store(self, method: str, body: bytes) -> bool:
        """Store the answer to the last call; False: it cannot be decoded."""
        try:
            self._known.append(decode(METHODS[method].answer, body))
        except WireError as error:
            logger.error("a node gives an unreadable answer to %s: %s", method, error)  # noqa: TRY400  # no traceback
            return False
        self._next = 0
        return True

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method not in METHODS:
            raise AttributeError(method)
        return lambda *values, **named: self._answer(method, values, named)

    def _answer(self, method: str, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self._next == len(self._known):
            raise _PendingCall(method, values, named)
        self._next += 1
        return self._known[self._next - 1]
