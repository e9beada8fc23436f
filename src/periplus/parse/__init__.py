"""What is on this page?"""

from periplus.parse.page import PageParser

__all__ = ["PageParser"]
