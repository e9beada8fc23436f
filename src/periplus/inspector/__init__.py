"""Explains what a collection contains: URLs, hosts, runs, traps; and verifies its files."""
