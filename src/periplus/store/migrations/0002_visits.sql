-- How often a URL was fetched, or found as it was: whoever asks for it again knows without a look at its fetches whether
-- there is a version to compare with.
ALTER TABLE urls ADD COLUMN visits INTEGER NOT NULL DEFAULT 0;
