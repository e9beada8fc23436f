"""What can stop a bench, said so that the reader knows what to do?"""


class BenchError(Exception):
    """A bench cannot go on; the message is one line that names what is missing."""
