"""Lets `python -m periplus` be the command."""

from periplus.cli.main import main

main()
