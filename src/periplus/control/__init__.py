"""Directs running processes: every order of the command line, the console and its HTTP API."""
