"""Parts that every site shares: security headers, static files, error pages and the server."""
