"""The error that stops a bench."""


class BenchError(Exception):
    """A bench cannot continue; the message is one line that names what is missing."""
