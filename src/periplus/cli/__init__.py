"""What can I type?"""
