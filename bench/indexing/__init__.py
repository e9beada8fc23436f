"""Parts of bench/index.py."""
