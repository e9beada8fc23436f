"""Parses queries, selects and scores pages, and makes snippets."""
