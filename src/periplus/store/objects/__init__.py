"""Where are the files of a fleet kept? An object store: S3, or a folder that every node can reach."""
