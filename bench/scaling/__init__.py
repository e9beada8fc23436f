"""Simulates a fleet of any size from measured unit costs."""
