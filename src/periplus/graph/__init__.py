"""Who links to whom, and who matters?"""
