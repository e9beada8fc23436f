"""Weather of a place: the interface, the provider Open-Meteo, and what readers see."""
