"""The web and the measurements of bench/rank.py."""
