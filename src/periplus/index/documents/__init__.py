"""What is stored and searched of a document: schema, facets, images and videos, and what sites repeat?"""
