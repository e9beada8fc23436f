-- Suspected traps: how many of their pages repeated another page, and how much of the allowance they have spent.

ALTER TABLE patterns ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE patterns ADD COLUMN spent INTEGER NOT NULL DEFAULT 0;
