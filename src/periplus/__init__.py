"""Periplus: a web search engine that anyone can run."""

__version__ = "0.1.0"
