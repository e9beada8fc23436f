"""Shows what a crawl does, and lets the owner of a collection direct it."""
