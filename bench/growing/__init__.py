"""Measures how the cost of each stage grows with the number of pages."""
