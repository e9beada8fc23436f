"""Decides which URLs are fetched, in which order and when."""
