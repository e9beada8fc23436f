"""How do pages come in from archives that others made, and go out in ours?"""
