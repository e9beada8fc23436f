"""Parts of bench/serve.py."""
