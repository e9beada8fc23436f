-- The seen filter by share. `seen` has the keys of the latest commits, with a share for each key; `packed_seen` has the
-- older ones, sorted by share, so that a worker reads those of its own shares only.
CREATE TABLE packed_seen (
    share INTEGER NOT NULL,
    keys  BLOB NOT NULL                   -- 8 bytes each
);
CREATE INDEX packed_seen_share ON packed_seen (share);

-- The share of a host's registrable domain. NULL for hosts of earlier releases: readers compute it.
ALTER TABLE hosts ADD COLUMN share INTEGER;
