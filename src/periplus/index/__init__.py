"""Which pages hold this word?"""
