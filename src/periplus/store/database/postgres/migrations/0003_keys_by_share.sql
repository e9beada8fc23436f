-- Schema 12 of the SQLite catalog: keys and hosts by share; see `store/catalog/migrations`.
CREATE TABLE packed_seen (
    share INTEGER NOT NULL,
    keys  BYTEA NOT NULL
);
ALTER TABLE packed_seen ALTER COLUMN keys SET STORAGE EXTERNAL;  -- hashes do not compress
CREATE INDEX packed_seen_share ON packed_seen (share);

ALTER TABLE hosts ADD COLUMN share INTEGER;
CREATE INDEX hosts_share ON hosts (share);
