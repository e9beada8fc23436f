"""Builds an index in partitions, ranges of document numbers, which several processes or machines write independently.

The driver plans the documents and numbers them. A task writes each partition, and the driver joins all of them. The
result has the same documents, numbers and words as an index that one process builds.
"""
