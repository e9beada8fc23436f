"""Parts that all benches share: a web to crawl, a way to run a program, and its cost."""
