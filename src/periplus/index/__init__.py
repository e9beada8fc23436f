"""The search index: schema, page store, generations and building."""
