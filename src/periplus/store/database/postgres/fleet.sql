-- The statements of the coordination of workers.

-- name: server_time
-- The clock of the server, in Unix time.
SELECT extract(epoch FROM clock_timestamp())::float8;

-- name: lock_nodes
-- Of two nodes that join with one name at the same time, the second one sees the first.
SELECT pg_advisory_xact_lock(hashtext('periplus.join'));

-- name: other_node
-- A live node with the same name and another folder, or with the same folder and another name.
SELECT node FROM fleet_workers JOIN leases USING (worker_id)
WHERE is_live = 1 AND ends > clock_timestamp() AND (node = ?1) <> (folder = ?2) LIMIT 1;

-- name: join_node
INSERT INTO nodes (name, folder) VALUES (?1, ?2)
ON CONFLICT (folder) DO UPDATE SET name = excluded.name, joined = excluded.joined;

-- name: leave_node
-- A node stays registered while one of its workers is live, or has files that are not uploaded.
DELETE FROM nodes WHERE folder = ?1 AND NOT EXISTS (
    SELECT 1 FROM fleet_workers JOIN leases USING (worker_id) WHERE fleet_workers.folder = nodes.folder
    AND (is_live = 1 OR EXISTS (SELECT 1 FROM archives WHERE worker = worker_id AND NOT stored)));

-- name: join_worker
INSERT INTO fleet_workers (folder, node, number, token) VALUES (?1, ?2, ?3, 1)
ON CONFLICT (folder, number) DO UPDATE SET token = fleet_workers.token + 1, node = excluded.node
RETURNING worker_id, token;

-- name: lock_former_workers
-- Another node may be giving up their files at this moment: its transaction ends first, and later ones see the lease of this node.
SELECT worker_id FROM fleet_workers JOIN leases USING (worker_id)
WHERE folder = ?1 AND is_live = 0 ORDER BY worker_id FOR UPDATE OF fleet_workers;

-- name: inherit_parsing
-- Pages of lost nodes that a former worker of this folder had to parse: the first worker of the node parses them.
UPDATE archives SET sealed_by = ?1 WHERE sealed < committed AND sealed_by <> ?1 AND worker <> sealed_by
AND sealed_by IN (SELECT worker_id FROM fleet_workers WHERE folder = ?2 AND number >= ?3);

-- name: count_commits
INSERT INTO worker_commits (worker_id) VALUES (?1) ON CONFLICT (worker_id) DO UPDATE SET commits = worker_commits.commits + 1
RETURNING commits;

-- name: begin_lease
-- Others look for URLs that the worker forwarded before it died, so the numbers grow.
INSERT INTO leases (worker_id, token, is_live, ends) VALUES (?1, ?2, 1, clock_timestamp() + ?3::float8 * interval '1 second')
ON CONFLICT (worker_id) DO UPDATE SET
    token = excluded.token, is_live = 1, ends = excluded.ends, renewed = excluded.renewed, backlog = 0, is_underloaded = 0, loaded = 0, idle_commits = NULL, claimed = 0,
    forwarded = leases.forwarded + 1, seeds = leases.seeds + 1
RETURNING forwarded, seeds;

-- name: begin_import
-- An import needs no lease: no node crawls meanwhile. After it, its files are given up like those of a worker that has ended.
INSERT INTO leases (worker_id, token, is_live, ends) VALUES (?1, ?2, 0, clock_timestamp())
ON CONFLICT (worker_id) DO UPDATE SET token = excluded.token, ends = excluded.ends;

-- name: workers_of_folder
SELECT worker_id, number FROM fleet_workers WHERE folder = ?1;

-- name: fence
-- No row: the worker has lost its lease. The name of the session lets others end it when its process is stopped.
SELECT set_config('application_name', 'periplus-' || worker_id || '-' || token, false)
FROM fleet_workers WHERE worker_id = ?1 AND token = ?2 FOR SHARE;

-- name: renew_lease
UPDATE leases SET ends = clock_timestamp() + ?3::float8 * interval '1 second', renewed = clock_timestamp(), backlog = ?4, is_underloaded = ?5, loaded = ?6,
    idle_commits = ?7::bigint, forwarded = ?8, seeds = ?9, claimed = ?10
WHERE worker_id = ?1 AND token = ?2
RETURNING set_config('application_name', 'periplus-' || worker_id || '-' || token, false);

-- name: give_shares
-- A receiver that is gone gets nothing: the shares are free. A share that the giver inherited from a dead worker a moment ago stays inherited.
UPDATE shares SET owner = (SELECT worker_id FROM leases WHERE worker_id = ?3 AND is_live = 1 AND ends > clock_timestamp())
WHERE owner = ?1 AND share = ANY(?2::bigint[]);

-- name: clear_inherited
-- The last requests of the dead owner have ended.
UPDATE shares SET after_kill = 0 WHERE owner = ?1 AND share = ANY(?2::bigint[]);

-- name: lend_share
INSERT INTO loans (share, worker_id, ends) VALUES (?1, ?2, clock_timestamp() + ?3::float8 * interval '1 second')
ON CONFLICT (share) DO UPDATE SET worker_id = excluded.worker_id, ends = excluded.ends
WHERE loans.ends <= clock_timestamp() OR loans.worker_id = excluded.worker_id;

-- name: end_loan
UPDATE loans SET ends = clock_timestamp() + ?3::float8 * interval '1 second' WHERE share = ?1 AND worker_id = ?2;

-- name: remove_expired_loans
DELETE FROM loans WHERE share IN (SELECT share FROM loans WHERE ends <= clock_timestamp() ORDER BY share FOR UPDATE SKIP LOCKED);

-- name: take_shares
-- Own free shares: those without an owner, and those of a worker that is gone.
UPDATE shares SET owner = ?1 FROM (
    SELECT share FROM shares
    WHERE owner IS NULL OR owner NOT IN (SELECT worker_id FROM leases WHERE is_live = 1)
    ORDER BY share LIMIT ?2 FOR UPDATE SKIP LOCKED) AS free
WHERE shares.share = free.share;

-- name: expired_leases
-- Workers whose lease has expired.
SELECT worker_id, token FROM leases WHERE is_live = 1 AND ends < clock_timestamp() ORDER BY worker_id;

-- name: end_sessions
-- End the sessions of a worker whose lease has expired: a process that is stopped in a transaction would keep its locks.
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'periplus-' || ?1::bigint || '-' || ?2::bigint AND pid <> pg_backend_pid();

-- name: lock_expired_leases
SELECT leases.worker_id FROM leases JOIN fleet_workers USING (worker_id)
WHERE is_live = 1 AND ends < clock_timestamp() ORDER BY leases.worker_id FOR UPDATE SKIP LOCKED;

-- name: advance_token
UPDATE fleet_workers SET token = token + 1 WHERE worker_id = ?1;

-- name: end_lease
UPDATE leases SET token = token + 1, is_live = 0, claimed = 0, ends = least(ends, clock_timestamp()), forwarded = forwarded + 1, seeds = seeds + 1 WHERE worker_id = ?1;

-- name: free_shares
-- The shares of a worker that leaves stay inherited if they are: it may not have waited for the requests of a dead worker.
UPDATE shares SET owner = NULL, after_kill = greatest(after_kill, ?2) WHERE owner = ?1;

-- name: live_workers
SELECT worker_id, backlog, is_underloaded, loaded FROM leases WHERE is_live = 1 AND ends > clock_timestamp();

-- name: sums_of_workers
-- Forwarded URLs and seeds of all workers.
SELECT coalesce(sum(forwarded), 0), coalesce(sum(seeds), 0) FROM leases;

-- name: owned_shares
SELECT share, after_kill FROM shares WHERE owner = ?1;

-- name: open_loans
SELECT share, worker_id, extract(epoch FROM ends - clock_timestamp())::float8 FROM loans WHERE ends > clock_timestamp();

-- name: forwarded_to
-- URLs forwarded to some shares. Readers begin anew every time: a smaller id may be committed later.
SELECT letter_id, share, url, depth, reason, via, redirects FROM inbox
WHERE letter_id > ?1 AND share = ANY(?3::bigint[]) ORDER BY letter_id LIMIT ?2;

-- name: lock_target
-- Of two workers that claim pages at the same time, the second one sees the claim of the first.
SELECT pg_advisory_xact_lock(hashtext('periplus.target'));

-- name: pages_left
-- Pages of the target that are neither stored nor claimed. A claim also counts until the worker tells that it has committed the pages.
SELECT ?1::bigint - coalesce((SELECT value FROM counters WHERE name = 'fetched'), 0) - coalesce(sum(claimed), 0)::bigint, count(*) FROM leases WHERE is_live = 1;

-- name: claim_pages
UPDATE leases SET claimed = claimed + ?2 WHERE worker_id = ?1;

-- name: stored_pages
SELECT coalesce(max(value) FILTER (WHERE name = 'fetched'), 0), coalesce(max(value) FILTER (WHERE name = 'bytes'), 0) FROM counters;

-- name: is_finished
-- Every live worker is idle since its last commit and has loaded its shares, every share has an owner, no forwarded URL waits.
-- No node has gone and left pages that are not in the object store, or not in segments. They will be queued or parsed again.
SELECT (NOT EXISTS (SELECT 1 FROM leases JOIN worker_commits USING (worker_id)
            WHERE is_live = 1 AND (idle_commits IS NULL OR idle_commits <> commits OR loaded <> (SELECT count(*) FROM shares WHERE owner = worker_id)))
    AND NOT EXISTS (SELECT 1 FROM shares WHERE owner IS NULL OR owner NOT IN (SELECT worker_id FROM leases WHERE is_live = 1))
    AND NOT EXISTS (SELECT 1 FROM inbox)
    AND NOT EXISTS (SELECT 1 FROM archives JOIN fleet_workers ON worker_id = sealed_by
        WHERE (NOT stored OR sealed < committed) AND folder NOT IN (
            SELECT folder FROM fleet_workers JOIN leases USING (worker_id) WHERE is_live = 1)))::int;

-- name: fleet_settings
SELECT toml FROM fleet_settings;

-- name: publish_settings
INSERT INTO fleet_settings (id, toml) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET toml = excluded.toml, published = clock_timestamp();
