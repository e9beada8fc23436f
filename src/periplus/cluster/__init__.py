"""How do several machines search one index together?"""
