"""Checks whether Periplus will work well on this machine, and how to fix problems."""
