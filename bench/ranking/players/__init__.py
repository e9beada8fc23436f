"""Who iterates? Each in a process of its own: `python -m ranking.players.NAME GENERATION PASSES`; cwd: bench."""
