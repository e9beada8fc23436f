"""Why is this page (not) here, and is everything as it should be?"""
