"""Place names: an offline table of cities, and the places that queries name."""
