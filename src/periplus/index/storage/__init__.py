"""How is a generation stored: its parts and shards, arrays, records and the page store?"""
