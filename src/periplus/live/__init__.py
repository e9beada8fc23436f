"""How does one command crawl, index and serve at once?"""
