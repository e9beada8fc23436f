"""Pages whose main text is known, and how well and how fast it is found."""
