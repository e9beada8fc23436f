-- URLs forwarded to the workers that own their domains, until the owner has admitted them.
CREATE TABLE inbox (
    letter_id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, so that readers can continue from the last id
    share     INTEGER NOT NULL,                  -- the share of the web that contains the domain
    url       TEXT NOT NULL,
    depth     INTEGER NOT NULL,
    reason    TEXT NOT NULL,                     -- why it is admitted: model.Reason
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
