"""Chooses the sentences of a page that are shown below its title, and the words that are marked."""
