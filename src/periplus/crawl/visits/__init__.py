"""What happens to one URL: when it may be fetched, its requests, and what becomes of the response."""
