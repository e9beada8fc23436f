"""Settings: which exist, what they mean, and which layer set each value."""

from periplus.config.console_settings import Console
from periplus.config.layers import FILE_NAME, Configuration, load
from periplus.config.search_settings import Indexing, LinkAnalysis, Ranking, Serving, SiteLook
from periplus.config.settings import (
    Addresses,
    AddressLimit,
    Fetching,
    Frontier,
    Identity,
    Parsing,
    Politeness,
    Recrawl,
    Scope,
    Settings,
    SiteProfile,
    Storage,
    sections,
    setting_keys,
)

__all__ = [
    "FILE_NAME",
    "AddressLimit",
    "Addresses",
    "Configuration",
    "Console",
    "Fetching",
    "Frontier",
    "Identity",
    "Indexing",
    "LinkAnalysis",
    "Parsing",
    "Politeness",
    "Ranking",
    "Recrawl",
    "Scope",
    "Serving",
    "Settings",
    "SiteLook",
    "SiteProfile",
    "Storage",
    "load",
    "sections",
    "setting_keys",
]
