-- Fetches that returned the page or found it unchanged. A recrawl reads here whether there is a version to compare with,
-- without looking at the fetches.
ALTER TABLE urls ADD COLUMN visits INTEGER NOT NULL DEFAULT 0;
