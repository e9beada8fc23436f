def find_tokens(text: str, most: int) -> str:
    """The distinct tokens among the first *most* characters, in lower case: those with a mark, then options."""
