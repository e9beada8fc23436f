"""Parsed pages and links in Parquet files, which ranking and indexing read."""
