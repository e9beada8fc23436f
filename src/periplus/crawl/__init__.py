"""How do workers crawl, alone and together?"""
