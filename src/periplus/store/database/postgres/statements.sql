-- Statements that PostgreSQL needs in another form than SQLite. Each replaces the one of the same name.

-- name: add_host
-- Two workers may meet a new host at the same time: both get its id.
INSERT INTO hosts (host, domain, share) VALUES (?, ?, ?) ON CONFLICT (host) DO UPDATE SET domain = excluded.domain RETURNING host_id;

-- name: host_id_many
SELECT host, host_id FROM hosts WHERE host = ANY(?);

-- name: add_host_many
INSERT INTO hosts (host, domain, share)
SELECT host, domain, share FROM unnest(?::text[], ?::text[], ?::integer[]) AS added (host, domain, share)
ON CONFLICT (host) DO UPDATE SET domain = excluded.domain RETURNING host, host_id;

-- name: queue
SELECT url, host, depth FROM urls JOIN hosts USING (host_id) WHERE state = 0 ORDER BY host_id, priority, due LIMIT ?;

-- name: add_to_counter
INSERT INTO counter_parts (name, part, value) VALUES (?, counter_part(), ?)
ON CONFLICT (name, part) DO UPDATE SET value = counter_parts.value + excluded.value;

-- name: clear_counters
DELETE FROM counter_parts;

-- name: count_refused_links
INSERT INTO refused_link_parts (reason, part, count) VALUES (?, counter_part(), ?)
ON CONFLICT (reason, part) DO UPDATE SET count = refused_link_parts.count + excluded.count;

-- name: clear_outcomes
DELETE FROM outcome_parts;

-- name: recount_outcomes
INSERT INTO outcome_parts (state, reason, status, part, count)
SELECT state, reason, status, counter_part(), count(*) FROM urls WHERE state >= 2 GROUP BY 1, 2, 3;

-- name: text_columns
SELECT columns.table_name::text, columns.column_name::text FROM information_schema.columns
JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND data_type = 'text' AND table_name <> 'block_list'
ORDER BY columns.table_name, ordinal_position;

-- name: block_list
SELECT kind, hash FROM block_list;

-- name: clear_block_list
DELETE FROM block_list;

-- name: add_block
INSERT INTO block_list (kind, hash) VALUES (?, ?);

-- name: segments
SELECT name, kind, rows, bytes, digest FROM segments WHERE stored ORDER BY segment_id;

-- name: unstored_files
-- Archive files and segments that are not in the object store, with their worker and its node.
SELECT name, worker, coalesce(node, '') FROM (
    SELECT name, worker FROM archives WHERE NOT stored UNION ALL SELECT name, worker FROM segments WHERE NOT stored) AS files
LEFT JOIN fleet_workers ON worker_id = worker ORDER BY name;

-- name: crawling_nodes
-- Nodes whose workers have a lease, but for the node with this folder.
SELECT DISTINCT node FROM fleet_workers JOIN leases USING (worker_id)
WHERE is_live = 1 AND ends > clock_timestamp() AND folder <> ? ORDER BY node;

-- name: nodes
-- Name, when it joined and renewed a lease for the last time, seconds since then, live workers, shares, files to upload.
SELECT name, extract(epoch FROM joined)::float8, extract(epoch FROM max(renewed))::float8,
       extract(epoch FROM clock_timestamp() - max(renewed))::float8, count(*) FILTER (WHERE is_live = 1 AND ends > clock_timestamp()),
       coalesce(sum((SELECT count(*) FROM shares WHERE owner = worker_id)), 0),
       coalesce(sum((SELECT count(*) FROM archives WHERE worker = worker_id AND NOT stored)), 0),
       coalesce(sum((SELECT sum(committed) FROM archives WHERE worker = worker_id AND NOT stored)), 0)
FROM nodes JOIN fleet_workers USING (folder) JOIN leases USING (worker_id) GROUP BY folder, name, joined ORDER BY name, joined;
