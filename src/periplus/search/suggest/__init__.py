"""What may the user mean? Spelling, completion, related searches."""
