"""Standing queries: saved queries that report new and changed pages."""
