"""What is not an HTML page: PDF, plain text, XML, feeds and sitemaps."""
