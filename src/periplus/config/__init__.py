"""What can be set, and where did each value come from?"""

from periplus.config.layers import FILE_NAME, Configuration, load
from periplus.config.settings import (
    Addresses,
    AddressLimit,
    Fetching,
    Identity,
    Indexing,
    LinkAnalysis,
    Parsing,
    Politeness,
    Ranking,
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
    "Fetching",
    "Identity",
    "Indexing",
    "LinkAnalysis",
    "Parsing",
    "Politeness",
    "Ranking",
    "Recrawl",
    "Scope",
    "Settings",
    "SiteProfile",
    "Storage",
    "load",
    "sections",
    "setting_keys",
]
