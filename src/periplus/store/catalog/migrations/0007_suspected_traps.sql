-- Suspected traps: pages with the same text as another page, and pages fetched of the allowance.

ALTER TABLE patterns ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE patterns ADD COLUMN spent INTEGER NOT NULL DEFAULT 0;
