"""What is a word?"""
