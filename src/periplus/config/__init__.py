"""Settings: which exist, what they mean, and which layer set each value."""

from periplus.config.console_settings import Console
from periplus.config.fleet_settings import Fleet
from periplus.config.layers import FILE_NAME, Configuration, Places, load, read_tables, secret_keys, shared_places
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
from periplus.config.spark_settings import Spark
from periplus.config.watch_settings import Watching

__all__ = [
    "FILE_NAME",
    "AddressLimit",
    "Addresses",
    "Configuration",
    "Console",
    "Fetching",
    "Fleet",
    "Frontier",
    "Identity",
    "Indexing",
    "LinkAnalysis",
    "Parsing",
    "Places",
    "Politeness",
    "Ranking",
    "Recrawl",
    "Scope",
    "Serving",
    "Settings",
    "SiteLook",
    "SiteProfile",
    "Spark",
    "Storage",
    "Watching",
    "load",
    "read_tables",
    "secret_keys",
    "sections",
    "setting_keys",
    "shared_places",
]
