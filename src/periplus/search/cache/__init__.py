"""Stores answers of searches in a file that the processes of a site share."""
