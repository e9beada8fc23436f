"""Is this URL in the scope of the crawl?

The rules need only the URL and its depth; each rule has its own reason code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from periplus.config import Scope
from periplus.model import Decision, Reason, Verdict


class ScopeRules:
    """The scope of a crawl: its settings, the hosts of its seeds when `scope.hosts` is empty, less blocked hosts."""

    def __init__(self, settings: Scope, seed_hosts: Iterable[str] = (), blocked: Iterable[str] = ()) -> None:
        self._settings = settings
        self._seed_hosts = set(seed_hosts)
        self._blocked = frozenset(blocked)
        self._hosts = [re.compile(pattern) for pattern in settings.hosts]
        self._paths = [re.compile(pattern) for pattern in settings.paths]
        self._extensions = frozenset("." + extension.lower().lstrip(".") for extension in settings.skip_extensions)
        self._host_verdicts: dict[str, bool] = {}

    def add_seed_host(self, host: str) -> None:
        """Add the host of a seed, or of a seed's redirect target; it counts only while `scope.hosts` is empty."""
        self._seed_hosts.add(host)
        self._host_verdicts.clear()

    def remove_seed_host(self, host: str) -> None:
        """Remove a host that has no seed any more."""
        self._seed_hosts.discard(host)
        self._host_verdicts.clear()

    def set_blocked(self, hosts: Iterable[str]) -> None:
        """Replace the hosts that the user has blocked."""
        self._blocked = frozenset(hosts)
        self._host_verdicts.clear()

    def refusal(self, url: str, host: str, depth: int) -> Decision | None:
        """Return why a URL is out of scope, or None when it is in scope."""
        if not self.covers_host(host):
            return self.host_refusal(host)
        if depth > self._settings.depth:
            return _refused(Reason.TOO_DEEP, f"depth {depth} is over scope.depth = {self._settings.depth}")
        if len(url) > self._settings.url_length:
            return self._too_long(url)
        path = url[url.index("/", 8) :]
        if self._paths and not any(pattern.search(path) for pattern in self._paths):
            return _refused(Reason.SCOPE_PATH, f"{path!r} matches none of scope.paths")
        return self._shape_refusal(path.partition("?")[0])

    def list_refusal(self, url: str, host: str) -> Decision | None:
        """Return why a sitemap is out of scope; path and file extension do not matter, as it is not a page."""
        if len(url) > self._settings.url_length:
            return self._too_long(url)
        return self.host_refusal(host)

    def _too_long(self, url: str) -> Decision:
        return _refused(Reason.TOO_LONG, f"{len(url)} characters are over scope.url_length")

    def host_refusal(self, host: str) -> Decision | None:
        """Return why all URLs of a host are out of scope, or None when some may be in scope."""
        if self.covers_host(host):
            return None
        if host in self._blocked:
            return _refused(Reason.BLOCKED, f"{host} is blocked")
        return _refused(Reason.SCOPE_HOST, self._host_rule(host))

    def _shape_refusal(self, path: str) -> Decision | None:
        name = path.rpartition("/")[2]
        dot = name.rfind(".")
        if dot >= 0 and (ending := name[dot:].lower()) in self._extensions:
            return _refused(Reason.EXTENSION, f"{ending} is in scope.skip_extensions")
        segments = path.count("/", 0, -1)  # a slash at the end starts no segment
        if segments > self._settings.path_depth:
            return _refused(Reason.TRAP_DEPTH, f"{segments} path segments are over scope.path_depth")
        parts = path.split("/")
        if len(parts) - len(set(parts)) >= self._settings.path_repeats - 1:  # rarely true, and counting is slower
            for segment, times in Counter(parts).most_common(2):
                if segment and times >= self._settings.path_repeats:
                    detail = f"path segment {segment!r} occurs {times} times, the limit of scope.path_repeats"
                    return _refused(Reason.TRAP_REPEAT, detail)
        return None

    def covers_host(self, host: str) -> bool:
        """Whether some URLs of a host may be in scope."""
        verdict = self._host_verdicts.get(host)
        if verdict is None:
            verdict = host not in self._blocked and self._is_in_scope(host)
            if len(self._host_verdicts) > 100_000:
                self._host_verdicts.clear()
            self._host_verdicts[host] = verdict
        return verdict

    def _is_in_scope(self, host: str) -> bool:
        return any(p.fullmatch(host) for p in self._hosts) if self._hosts else host in self._seed_hosts

    def excludes_host(self, host: str) -> bool:
        """Whether a host is blocked, or `scope.hosts` is set and does not match it: nothing may be requested there."""
        return (bool(self._hosts) or host in self._blocked) and not self.covers_host(host)

    def _host_rule(self, host: str) -> str:
        if self._hosts:
            return f"{host} matches none of scope.hosts"
        return f"{host} is not the host of a seed, and scope.hosts is empty"


def page_rules(settings: Scope) -> ScopeRules:
    """Return the rules for pages that are imported or indexed: those of the settings; seeds exclude no host."""
    return ScopeRules(settings if settings.hosts else settings.model_copy(update={"hosts": [".*"]}))


def _refused(reason: Reason, detail: str) -> Decision:
    return Decision(Verdict.REFUSED, reason, detail)
