"""Imports pages from WARC and ARC files, and exports pages to WARC."""
