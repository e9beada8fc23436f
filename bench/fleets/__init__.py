"""Measures what the nodes of a fleet share."""
