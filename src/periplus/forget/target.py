"""What is to be forgotten: one URL, or all URLs of a host?"""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.store.block_list import Blocked, BlockList
from periplus.url import Canonicalizer, host_of, parse

_HOST = re.compile(r"[^/?#@]+")  # has no path and no scheme


class Target(NamedTuple):
    """One URL or one host."""

    kind: str  # url or host
    name: str

    def entry(self, blocked: BlockList) -> Blocked:
        """Its entry in a block list."""
        return blocked.url_entry(self.name) if self.kind == "url" else blocked.host_entry(self.name)

    def covers(self, url: str) -> bool:
        """Whether a canonical URL is this URL, or one of this host."""
        return self.name == (url if self.kind == "url" else host_of(url))


def parse_target(raw: str, canonicalizer: Canonicalizer) -> Target:
    """Parse what a person typed: without a scheme and a path it is a host."""
    text = raw.strip()
    url = parse(text, canonicalizer)
    return Target("host", url.host) if _HOST.fullmatch(text) else Target("url", url.text)
