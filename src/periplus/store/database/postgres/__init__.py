"""The catalog in PostgreSQL: what differs from the SQLite catalog."""
