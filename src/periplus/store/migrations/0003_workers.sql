-- Links into domains of another worker wait here until their owner has taken them in.
CREATE TABLE inbox (
    letter_id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that readers may go on from the last one they saw
    share     INTEGER NOT NULL,                  -- the share of the web that its domain falls into
    url       TEXT NOT NULL,
    depth     INTEGER NOT NULL,
    reason    TEXT NOT NULL,                     -- why it is to be admitted: model.Reason
    via       TEXT NOT NULL,
    redirects INTEGER NOT NULL
);

-- What each worker of a run has done, as of its last commit; `runs.summary` holds the sum once the run has ended.
CREATE TABLE run_workers (
    run_id  INTEGER NOT NULL,
    worker  INTEGER NOT NULL,
    summary TEXT NOT NULL,                       -- JSON
    PRIMARY KEY (run_id, worker)
) WITHOUT ROWID;
