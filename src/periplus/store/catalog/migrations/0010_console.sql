-- Counters and indexes of the console: no view may count millions of rows.
ALTER TABLE hosts ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;  -- URLs in each state; the others were fetched
ALTER TABLE hosts ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;

-- The status code of an HTTP error, for which errors are grouped; empty for every other reason.
ALTER TABLE urls ADD COLUMN status TEXT GENERATED ALWAYS AS (CASE reason WHEN 'http_error' THEN detail ELSE '' END) VIRTUAL;

-- URLs that were refused or failed, by reason; for HTTP errors also by status code.
CREATE TABLE outcomes (
    state  INTEGER NOT NULL,              -- model.UrlState
    reason TEXT NOT NULL,
    status TEXT NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (state, reason, status)
) WITHOUT ROWID;

-- Refused links by reason: the sums of `refusals`, which has a row for every host that was ever linked to.
CREATE TABLE refused_links (
    reason TEXT PRIMARY KEY,
    count  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX urls_outcome ON urls (state, reason, status, changed) WHERE state >= 2;
CREATE INDEX urls_sitemaps ON urls (first_seen) WHERE admitted = 'sitemap';
CREATE INDEX refusal_samples_reason ON refusal_samples (reason);

UPDATE hosts SET queued = (SELECT count(*) FROM urls WHERE urls.host_id = hosts.host_id AND state = 0);
UPDATE hosts SET refused = found.refused, failed = found.failed
FROM (SELECT host_id, sum(state = 2) AS refused, sum(state = 3) AS failed FROM urls WHERE state >= 2 GROUP BY host_id) AS found
WHERE found.host_id = hosts.host_id;
INSERT INTO outcomes (state, reason, status, count)
SELECT state, reason, status, count(*) FROM urls WHERE state >= 2 GROUP BY 1, 2, 3;
INSERT INTO refused_links (reason, count) SELECT reason, sum(count) FROM refusals GROUP BY reason;

DROP TRIGGER urls_counted;
CREATE TRIGGER urls_counted AFTER INSERT ON urls BEGIN
    UPDATE hosts SET urls = urls + 1, queued = queued + (NEW.state = 0) WHERE host_id = NEW.host_id;
END;

CREATE TRIGGER urls_changed_state AFTER UPDATE OF state ON urls WHEN NEW.state <> OLD.state BEGIN
    UPDATE hosts SET queued = queued + (NEW.state = 0) - (OLD.state = 0), refused = refused + (NEW.state = 2) - (OLD.state = 2),
                     failed = failed + (NEW.state = 3) - (OLD.state = 3) WHERE host_id = NEW.host_id;
END;

CREATE TRIGGER urls_left_outcome AFTER UPDATE OF state, reason, detail ON urls WHEN OLD.state >= 2 BEGIN
    UPDATE outcomes SET count = count - 1
    WHERE state = OLD.state AND reason = OLD.reason AND status = OLD.status;
END;

CREATE TRIGGER urls_got_outcome AFTER UPDATE OF state, reason, detail ON urls WHEN NEW.state >= 2 BEGIN
    INSERT INTO outcomes (state, reason, status, count)
    VALUES (NEW.state, NEW.reason, NEW.status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER urls_removed AFTER DELETE ON urls BEGIN
    UPDATE hosts SET queued = queued - (OLD.state = 0), refused = refused - (OLD.state = 2), failed = failed - (OLD.state = 3)
    WHERE host_id = OLD.host_id;
    UPDATE outcomes SET count = count - 1
    WHERE state = OLD.state AND reason = OLD.reason AND status = OLD.status;
END;
