"""The search index: schema, page store and building."""
