"""What spelling and completion look up: similar words, and phrases by their beginning."""
