"""Parts of bench/live.py."""
