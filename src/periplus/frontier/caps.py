"""How many URLs and hosts of one registrable domain are queued?

The caps count by registrable domain, because its owner can create any number of pages and host names below it.
"""

from __future__ import annotations

from periplus.config import Scope
from periplus.model import Decision, Reason, Verdict
from periplus.url import registrable_domain


class DomainCaps:
    """The caps set in `scope.*`."""

    def __init__(self, settings: Scope) -> None:
        self._pages = settings.pages_per_domain
        self._domain_pages = {registrable_domain(name.lower()): pages for name, pages in settings.domain_pages.items()}
        self.hosts = settings.hosts_per_domain

    def pages(self, domain: str) -> int:
        """Return the maximum number of URLs of a domain."""
        return self._domain_pages.get(domain, self._pages)

    def refusal(self, domain: str, urls: int, hosts: int) -> Decision | None:
        """Return why a domain with *urls* URLs and *hosts* other hosts gets no more, or None."""
        if urls >= self.pages(domain):
            setting = f"scope.domain_pages.{domain}" if domain in self._domain_pages else "scope.pages_per_domain"
            detail = f"{domain} has {urls} URLs, the limit of {setting}"
            return Decision(Verdict.REFUSED, Reason.DOMAIN_CAP, detail)
        if hosts >= self.hosts:
            detail = f"{domain} has {hosts} hosts, the limit of scope.hosts_per_domain"
            return Decision(Verdict.REFUSED, Reason.HOSTS_CAP, detail)
        return None
