"""The JSON API: its routes, the keys of its answers, and its description for programs."""
