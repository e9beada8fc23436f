"""HTML: fields, links, facts, site profiles and the reader view."""
