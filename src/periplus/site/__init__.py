"""What do the search site and the console share?"""
