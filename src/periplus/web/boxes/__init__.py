"""Boxes above the results: weather, time, calculator, units, definition."""
