"""The result page, its filters, groups and explanations, and results in other forms."""
