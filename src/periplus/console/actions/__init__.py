"""What the owner can do from the console: one function an action, used by the forms and by the HTTP API."""
