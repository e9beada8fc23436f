"""Which URLs and hosts must not come back? The block list of `periplus forget`.

The file holds keyed hashes only: of the id of each URL, and of each host name. Nobody can list the URLs from the file,
but everybody who has it can test whether a certain URL is in it.
"""

from __future__ import annotations

import re
from functools import partial
from hashlib import blake2b
from os import urandom
from pathlib import Path
from typing import NamedTuple

from periplus.errors import DamagedFile
from periplus.store.checksums import verified, with_checksums
from periplus.store.durable import reporting_full_disk, write_file
from periplus.url import host_of, url_id

FOLDER = "forgotten"  # in the collection
_FILE = "blocked.json"
_FORMAT = 1
_KEY_BYTES = 32
_HASH_BYTES = 16
_CACHED_HOSTS = 100_000
_NAMES = re.compile(
    r"(https?://[^\s\"<>\\/]+[^\s\"<>\\]*)|[\w.-]*\w|\[[0-9a-fA-F:.]+\]"
)  # a URL, or what may be a host name
_MARKS = ".,;:!?)]}'"  # may follow a URL in a text
_REPLACED = "(forgotten)"


class Blocked(NamedTuple):
    """One entry of the block list."""

    kind: str  # url or host
    hash: str  # hexadecimal


class BlockList:
    """The URLs and hosts that must not come back, as keyed hashes."""

    def __init__(self, key: bytes = b"", entries: frozenset[Blocked] = frozenset()) -> None:
        self.key, self.entries = key, entries
        self._urls = frozenset(bytes.fromhex(entry.hash) for entry in entries if entry.kind == "url")
        self._hosts = frozenset(bytes.fromhex(entry.hash) for entry in entries if entry.kind == "host")
        self._hash = partial(blake2b, key=key, digest_size=_HASH_BYTES)
        self._known_hosts: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self.entries)

    def blocks(self, url: str) -> bool:
        """Whether a canonical URL is blocked, by itself or with its host."""
        return (bool(self._urls) and self.blocks_id(url_id(url))) or (bool(self._hosts) and self.blocks_host_of(url))

    def blocks_id(self, identity: bytes) -> bool:
        """Whether the URL with this id is blocked by itself."""
        return self._hash(identity).digest() in self._urls

    def blocks_host_of(self, url: str) -> bool:
        """Whether the host of a URL or an origin is blocked."""
        return self.blocks_host(host_of(url))

    def blocks_host(self, host: str) -> bool:
        """Whether all URLs of a host are blocked."""
        found = self._known_hosts.get(host)
        if found is None:
            if len(self._known_hosts) >= _CACHED_HOSTS:
                self._known_hosts.clear()
            found = self._known_hosts[host] = self._hash(host.encode()).digest() in self._hosts
        return found

    def scrubbed(self, text: str) -> str:
        """The text, with every blocked URL and host name in it replaced."""
        return _NAMES.sub(
            lambda found: self._scrubbed_url(found[1]) if found[1] else self._scrubbed_host(found[0]), text
        )

    def _scrubbed_url(self, url: str) -> str:
        """The URL, or its replacement; the punctuation marks after it may be part of it or not."""
        for end in range(len(url), len(url.rstrip(_MARKS)) - 1, -1):
            name = url[:end]
            if self.blocks(name) if "/" in name[8:] else self.blocks_host_of(name):
                return _REPLACED + url[end:]
        return url

    def _scrubbed_host(self, host: str) -> str:
        return _REPLACED if self.blocks_host(host) else host

    # -- entries ----------------------------------------------------------------------------------------------------

    def url_entry(self, url: str) -> Blocked:
        """The entry that blocks one URL."""
        return Blocked("url", self._hash(url_id(url)).hexdigest())

    def host_entry(self, host: str) -> Blocked:
        """The entry that blocks a host."""
        return Blocked("host", self._hash(host.encode()).hexdigest())

    def only(self, *entries: Blocked) -> BlockList:
        """A list with the same key and these entries."""
        return BlockList(self.key, frozenset(entries))

    def extended(self, entry: Blocked) -> BlockList:
        """The same list with one more entry."""
        return self.only(*self.entries, entry)

    def without(self, entry: Blocked) -> BlockList:
        """The same list without an entry."""
        return self.only(*(self.entries - {entry}))


NOTHING_BLOCKED = BlockList()


def new_block_list() -> BlockList:
    """An empty list with a new key."""
    return BlockList(urandom(_KEY_BYTES))


def read_block_list(home: Path) -> BlockList:
    """The block list of the collection in *home*; without a file, nothing is blocked."""
    path = home / FOLDER / _FILE
    try:
        facts = verified(path.read_bytes())
        entries = {1: facts["entries"]}[facts["format"]]
        return BlockList(bytes.fromhex(facts["key"]), frozenset(Blocked(*entry) for entry in entries))
    except FileNotFoundError:
        return NOTHING_BLOCKED
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "Restore the file from a backup. Without it, forgotten pages could come back."
        raise DamagedFile(f"{path} is damaged", str(error), hint) from error


def write_block_list(home: Path, blocked: BlockList) -> None:
    """Replace the block list of a collection, durably."""
    entries = sorted(map(list, blocked.entries))
    with reporting_full_disk(home):
        (home / FOLDER).mkdir(exist_ok=True)
        facts = {"format": _FORMAT, "key": blocked.key.hex(), "entries": entries}
        write_file(home / FOLDER / _FILE, with_checksums(facts))
