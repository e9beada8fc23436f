"""Measures the ranking with judged queries, and learns its weights."""
