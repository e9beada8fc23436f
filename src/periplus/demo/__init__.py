"""What does it look like, offline?"""
