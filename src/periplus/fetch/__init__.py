"""Fetches URLs over HTTP, within the politeness limits of hosts and IP addresses."""
