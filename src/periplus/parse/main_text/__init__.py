"""The main text of a page: which lines are content, and which are boilerplate?"""
