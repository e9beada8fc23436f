"""The fetched bytes of every page, as WARC files."""
