"""What is on this page?"""
