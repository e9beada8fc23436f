"""How much of one owner's web is enough?

Counted by registrable domain, because its owner can make up any number of pages and of host names below it.
"""

from __future__ import annotations

from periplus.config import Scope
from periplus.model import Decision, Reason, Verdict
from periplus.url import registrable_domain


class DomainCaps:
    """The caps of one configuration."""

    def __init__(self, settings: Scope) -> None:
        self._pages = settings.pages_per_domain
        self._named = {registrable_domain(name.lower()): pages for name, pages in settings.domain_pages.items()}
        self.hosts = settings.hosts_per_domain

    def pages(self, domain: str) -> int:
        """How many URLs a domain may have."""
        return self._named.get(domain, self._pages)

    def refusal(self, domain: str, urls: int, hosts: int) -> Decision | None:
        """Why a domain that has so many URLs and so many other hosts gets no more."""
        if urls >= self.pages(domain):
            setting = f"scope.domain_pages.{domain}" if domain in self._named else "scope.pages_per_domain"
            detail = f"{domain} has {urls} URLs, as many as {setting} allows"
            return Decision(Verdict.REFUSED, Reason.DOMAIN_CAP, detail)
        if hosts >= self.hosts:
            detail = f"{domain} has {hosts} hosts, as many as scope.hosts_per_domain allows"
            return Decision(Verdict.REFUSED, Reason.HOSTS_CAP, detail)
        return None
