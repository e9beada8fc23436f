"""Scores pages: which are candidates, what is known about each, and how much each signal counts."""
