"""Reads a query: grammar, tree, operators, and the tantivy query of each language."""
