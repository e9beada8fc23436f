"""Which pages, in which order, and why?"""
