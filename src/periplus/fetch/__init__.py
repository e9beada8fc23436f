"""Give me these bytes, politely."""
