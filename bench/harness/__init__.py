"""What do all benches need: a web to crawl, a way to run a program, and its cost?"""
