"""Runs named SQL statements: the port of a database, its SQLite version, and what a fleet keeps in PostgreSQL."""
