"""What each page of the console shows, as JSON objects: the pages and the HTTP API use the same functions."""
