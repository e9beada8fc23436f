"""What does the user tell the processes of a collection, and what do they do now?"""
