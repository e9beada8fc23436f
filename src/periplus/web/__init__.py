"""The search site: result page, cached page and JSON API."""
