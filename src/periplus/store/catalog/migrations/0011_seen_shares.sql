-- The share of every key of the seen filter, 2 bytes each: a worker holds the keys of its own shares only.
-- NULL in chunks of earlier releases, which count for every worker.
ALTER TABLE seen ADD COLUMN shares BLOB;
