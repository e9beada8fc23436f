"""Parts of bench/shards.py."""
