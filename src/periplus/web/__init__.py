"""What does the reader see?"""
