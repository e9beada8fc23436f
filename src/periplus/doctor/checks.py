"""Runs all checks in order."""

from __future__ import annotations

import re
from pathlib import Path

from periplus.config import Settings, load
from periplus.doctor import disk, fleet, machine
from periplus.doctor.check import Check, Grade
from periplus.doctor.machine import sandbox
from periplus.errors import ConfigError

PORT = 8080
_CONTACT = re.compile(r"https?://\S+\.\S+|\S+@\S+\.\S+")


def run_checks(home: Path) -> list[Check]:
    """Runs every check once."""
    configured, settings = _settings(home)
    return [
        machine.python(),
        machine.libraries(),
        machine.html_scanner(),
        machine.word_table(),
        configured,
        contact(settings),
        disk.writable(home),
        disk.file_system(home),
        disk.space(home),
        disk.inodes(home),
        disk.sync(home),
        *fleet.checks(settings.fleet),
        machine.memory(settings.index.memory_mb),
        machine.open_files(settings.fetch.concurrency),
        machine.clock(),
        machine.port(PORT),
        sandbox(),
    ]


def _settings(home: Path) -> tuple[Check, Settings]:
    try:
        configuration = load(home)
    except ConfigError as error:
        return Check("settings", Grade.BAD, f"{error.what}: {error.why}", error.hint), Settings()
    count = len(configuration.origins)
    return Check("settings", Grade.OK, f"{count or 'none'} set, others have their defaults"), configuration.settings


def contact(settings: Settings) -> Check:
    """Whether webmasters can reach the operator of the crawler."""
    text = settings.identity.contact
    advice = 'Write contact = "you@example.org" under [identity] in periplus.toml, or set PERIPLUS_IDENTITY__CONTACT.'
    if not text:
        return Check("contact", Grade.WARN, "not set, so public hosts are not crawled", advice)
    if not _CONTACT.search(text):
        return Check("contact", Grade.WARN, f"{text!r} is neither an email address nor a URL", advice)
    return Check("contact", Grade.OK, text)
