"""The catalog: which URLs, hosts, fetches, files and runs does a collection know?"""
