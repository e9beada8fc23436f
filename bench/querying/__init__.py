"""Parts of bench/query.py."""
