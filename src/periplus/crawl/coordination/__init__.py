"""How do the workers of a crawl divide its work, on one machine and on many?"""
