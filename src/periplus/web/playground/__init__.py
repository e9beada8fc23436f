"""The ranking playground: sliders for the weights of the ranking, and the results in the order that they give."""
