"""The pages about one page: cached copy, versions, panel, inspect."""
