"""The rows through which the workers of a fleet agree: leases with fencing tokens, shares, loans."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from psycopg import conninfo

from periplus.errors import DatabaseUnavailable, UsageError
from periplus.store.database.fleet import FleetView, Heartbeat, Identity, Peer
from periplus.store.database.postgres.connection import clock_problem
from periplus.store.database.postgres.database import PostgresDatabase, lease_lost
from periplus.store.shares import SHARES

logger = logging.getLogger("periplus.crawl")

_PATIENCE = 5.0  # seconds to wait for a lost server before the caller tries again


def _ending_idle_transactions(url: str, seconds: float) -> str:
    """The URL with an option: the server ends a session that stops within a transaction, and so frees its locks."""
    options = str(conninfo.conninfo_to_dict(url).get("options") or "")
    limit = f"-c idle_in_transaction_session_timeout={int(seconds * 1000)}"
    return conninfo.make_conninfo(url, options=f"{options} {limit}".strip())


class FleetRows:
    """One node's access to the rows; see `Fleet`. One thread at a time may use it."""

    def __init__(self, url: str, node: str, folder: str, lease: float, clock: Callable[[], float]) -> None:
        """*folder*: the id of the node's folder. *lease*: seconds. *clock*: seconds that also count suspension."""
        self._database = PostgresDatabase(_ending_idle_transactions(url, lease), patience=_PATIENCE)
        self._node, self._folder, self._lease, self._clock = node, folder, lease, clock

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def join(self, number: int, workers: int) -> Identity:
        """Become worker *number* of *workers* on this node; an earlier process of the same worker is fenced off."""
        (at,) = self._database.row("server_time")
        if wrong := clock_problem(time.time() - at):
            logger.warning("%s: synchronize the clocks of all nodes with NTP", wrong)
        return self._database.retry(lambda: self._join(number, workers))

    def _join(self, number: int, workers: int) -> Identity:
        database = self._database
        with database.transaction():
            database.run("lock_nodes")
            self._require_own_name()
            database.run("join_node", self._node, self._folder)
            worker, token = database.row("join_worker", self._folder, self._node, number)
            database.run("lock_former_workers", self._folder)
            if number == 0:
                database.run("inherit_parsing", worker, self._folder, workers)
            (commits,) = database.row("count_commits", worker)
            forwarded, seeds = database.row("begin_lease", worker, token, self._lease)
            here = database.rows("workers_of_folder", self._folder)
            earlier = frozenset(other for other, its_number in here if its_number % workers == number)
        return Identity(worker, token, commits, (forwarded, seeds), earlier)

    def _require_own_name(self) -> None:
        """Refuse a name that a live node with another folder has, and a folder that a live node has copied."""
        row = self._database.row("other_node", self._node, self._folder)
        if row is None:
            return
        if row[0] == self._node:
            why = "a live node of that name uses another folder"
            raise UsageError(
                f"the fleet has a node {self._node} already", why, "Give this one another name: `fleet.node`."
            )
        raise UsageError(
            f"the folder of node {self._node} is in use",
            f"it has the id of the folder of the live node {row[0]}",
            "Stop that node, or use an empty folder; a copy of a folder cannot be a second node.",
        )

    def heartbeat(self, me: Identity, heartbeat: Heartbeat) -> FleetView:
        """Renew the lease, tell and ask; raises `LeaseLost` when another worker has taken the lease."""
        with self._database.transaction():
            asked = self._renew(me, heartbeat)
            self._apply_requests(me, heartbeat)
            if heartbeat.wants_shares:
                self._take_shares(me)
            view = self._view(me, asked)
            if heartbeat.target is not None:
                view = replace(view, granted=self._claim_pages(me, heartbeat.target))
        if heartbeat.may_revoke_leases:
            with suppress(DatabaseUnavailable):  # the next heartbeat does it
                self._take_expired_leases()
        return view

    def leave(self, me: Identity) -> None:
        """End the lease; the shares are free."""
        with self._database.transaction():
            if self._database.row("fence", me.worker, me.token) is None:
                return
            self._end(me.worker, after_kill=False)
            self._database.run("leave_node", self._folder)

    # -- parts of a heartbeat -------------------------------------------------------------------------------------

    def _renew(self, me: Identity, heartbeat: Heartbeat) -> float:
        asked = self._clock()  # before the statement: the server adds the lease to a later time
        told = (heartbeat.backlog, heartbeat.is_underloaded, heartbeat.loaded, heartbeat.idle_commits)
        sums = (heartbeat.forwarded, heartbeat.seeds, heartbeat.claimed)
        if self._database.row("renew_lease", me.worker, me.token, self._lease, *told, *sums) is None:
            raise lease_lost(me.worker)
        return asked

    def _apply_requests(self, me: Identity, heartbeat: Heartbeat) -> None:
        if heartbeat.cleared:
            self._database.run("clear_inherited", me.worker, sorted(heartbeat.cleared))
        for receiver, shares in heartbeat.share_transfers:
            self._database.run("give_shares", me.worker, list(shares), receiver)
        for share in sorted({*heartbeat.loans, *heartbeat.ended_loans}):  # one order for all: no deadlock
            if share in heartbeat.loans:
                self._database.run("lend_share", share, me.worker, heartbeat.loans[share])
            if share in heartbeat.ended_loans:
                self._database.run("end_loan", share, me.worker, heartbeat.ended_loans[share])
        self._database.run("remove_expired_loans")

    def _take_shares(self, me: Identity) -> None:
        """Take free shares, up to a fair part."""
        workers = len(list(self._database.rows("live_workers")))
        missing = math.ceil(SHARES / max(workers, 1)) - len(list(self._database.rows("owned_shares", me.worker)))
        if missing > 0:
            self._database.run("take_shares", me.worker, missing)

    def _claim_pages(self, me: Identity, target: int) -> int:
        """Claim a part of the pages that are left until the collection has *target* pages."""
        self._database.run("lock_target")
        left, workers = map(int, self._database.row("pages_left", target))
        claimed = max(min(left, max(left // (4 * workers), 1)), 0)
        if claimed:
            self._database.run("claim_pages", me.worker, claimed)
        return claimed

    def _view(self, me: Identity, asked: float) -> FleetView:
        database = self._database
        owned = list(database.rows("owned_shares", me.worker))
        forwarded, seeds = map(int, database.row("sums_of_workers"))
        (is_finished,) = database.row("is_finished")
        pages, size = database.row("stored_pages")
        return FleetView(
            asked,
            frozenset(share for share, _ in owned),
            frozenset(share for share, after_kill in owned if after_kill),
            {share: (worker, left) for share, worker, left in database.rows("open_loans")},
            tuple(Peer(one, log, bool(idle), many) for one, log, idle, many in database.rows("live_workers")),
            (forwarded, seeds),
            bool(is_finished),
            stored=(int(pages), int(size)),
        )

    # -- workers that are gone ------------------------------------------------------------------------------------

    def _take_expired_leases(self) -> None:
        """Fence off workers whose lease has expired, and free their shares."""
        expired = list(self._database.rows("expired_leases"))
        if not expired:
            return
        for worker, token in expired:
            self._database.run("end_sessions", worker, token)
        with self._database.transaction():
            for (worker,) in list(self._database.rows("lock_expired_leases")):
                self._end(worker, after_kill=True)

    def _end(self, worker: int, *, after_kill: bool) -> None:
        self._database.run("advance_token", worker)
        self._database.run("end_lease", worker)
        self._database.run("free_shares", worker, after_kill)
