-- Digests of new segments are XXH3 with 128 bits; those of earlier releases are SHA-256 and are twice as long.
ALTER TABLE segments RENAME COLUMN sha256 TO digest;
