"""What does bench/rank.py rank, and how does it measure that?"""
