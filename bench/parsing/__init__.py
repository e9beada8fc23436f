"""Pages with known main text, and measurements of how well and how fast it is extracted."""
