"""Carries out what the user tells a running crawl: pause, stop, seeds, blocked hosts, retries.

Commands are rows of the catalog. Every worker reads new ones twice a second and carries them out for its own domains.
What must outlast the crawl is in tables of its own, written before the command: a worker that starts reads the tables,
and needs no command that is older than itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.coordination.ownership import Ownership
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.crawl.visits.politeness import PolitenessClock
from periplus.crawl.visits.revisits import Revisits
from periplus.crawl.workers.handover import Inbox
from periplus.crawl.workers.rate_limit import RateLimit
from periplus.frontier.admission import Admission
from periplus.store.catalog.live_state import Action, Command, LiveState
from periplus.url import host_of

_READ_EVERY = 0.5  # seconds
_STOP_LEVELS = {Action.DRAIN: 1, Action.STOP: 2}  # Ctrl-C once, twice


@dataclass(frozen=True, slots=True)
class CommandTargets:
    """The parts of a worker that commands change."""

    ownership: Ownership
    admission: Admission
    intake: LinkIntake
    inbox: Inbox
    politeness: PolitenessClock
    revisits: Revisits


class Commands:
    """Reads and carries out the commands of one worker."""

    def __init__(self, context: WorkerContext, live: LiveState, known: int, targets: CommandTargets) -> None:
        """*known*: the newest command when this worker began to read the tables."""
        self._context, self._live, self._targets = context, live, targets
        self._node, self.last = context.assignment.collection.node, known
        self._read = -1e9  # monotonic seconds of the last look for commands
        self.is_paused = live.is_paused(self._node)
        self.rate = RateLimit()
        # A replacement of a dead worker may have missed that the crawl should stop.
        self._stop(self._mine(live.commands_after(context.assignment.first_command)))

    def carry_out_new(self) -> None:
        """Carry out the commands given since the last call; looks for some twice a second."""
        now = time.monotonic()
        if now - self._read < _READ_EVERY:
            return
        self._read = now
        self.rate.set(self._live.rate_limit(time.time()), self._context.clock.now())
        if given := self._live.commands_after(self.last):
            self._carry_out(self._mine(given))
            self.last = given[-1].command_id

    def _mine(self, given: Iterable[Command]) -> list[Command]:
        return [command for command in given if command.node in ("", self._node)]

    def _carry_out(self, given: Sequence[Command]) -> None:
        """Carry out several commands; of those about one thing the last counts, as in the tables."""
        for command in given:
            if command.action in (Action.PAUSE, Action.RESUME):
                self.is_paused = command.action is Action.PAUSE
        self._stop(given)
        self._apply_blocks({host for one in _of(given, Action.BLOCK, Action.UNBLOCK) for host in [_host(one)]})
        self._remove_seeds([url for one in _of(given, Action.REMOVE_SEED) for url in one.arguments["urls"]])
        named = [one.arguments for one in _of(given, Action.ADD_SEEDS)]
        self._add_seeds([url for one in named for url in (*one["urls"], *one["sitemaps"])])
        for one in _of(given, Action.UNLEARN):
            self._unlearn(_host(one), one.arguments["pattern"])
        for one in _of(given, Action.RELOAD):
            self._context.queues.reload(filter(self._targets.ownership.owns, one.arguments["hosts"]))
        for one in _of(given, Action.RETRY):
            self._retry(_host(one), whole_host="url" not in one.arguments)

    def _stop(self, given: Iterable[Command]) -> None:
        """Drain or stop, as Ctrl-C does."""
        for one in _of(given, *_STOP_LEVELS):
            self._context.shared.stop_at_least(_STOP_LEVELS[one.action])

    # -- hosts --------------------------------------------------------------------------------------------------

    def _apply_blocks(self, hosts: set[str]) -> None:
        """Refuse blocked hosts from now on; the next commit refuses or requeues what is stored until then."""
        if not hosts:
            return
        blocked = self._context.catalog.blocked_hosts()
        self._targets.admission.scope.set_blocked(blocked)
        self._targets.intake.forget_decisions()
        for host in filter(self._targets.ownership.owns, hosts):
            if host in blocked:
                self._context.queues.discard(host)
            self._context.pending.batch.blocks.append(host)
        self._targets.revisits.restart()

    def _retry(self, host: str, *, whole_host: bool) -> None:
        if not self._targets.ownership.owns(host):
            return
        pause = self._targets.politeness.forgive(host, self._context.clock.now())
        batch = self._context.pending.batch
        batch.policies[host] = pause.policy
        if whole_host:
            batch.retried.append(host)
        self._context.queues.retry(host, pause.ready)

    def _unlearn(self, host: str, pattern: str) -> None:
        if self._targets.ownership.owns(host):
            self._targets.admission.traps.unlearn(host, pattern)
            self._context.pending.batch.harmless.append((host, pattern))
            self._targets.intake.forget_decisions()

    # -- seeds --------------------------------------------------------------------------------------------------

    def _add_seeds(self, urls: Sequence[str]) -> None:
        """Add the hosts of new seeds to the scope, and admit those that this worker owns."""
        if not urls:
            return
        hosts = {host_of(url) for url in urls}
        for host in hosts:
            self._targets.admission.scope.add_seed_host(host)
        self._targets.intake.forget_decisions()
        self._targets.inbox.read_named()
        self._context.queues.reload(filter(self._targets.ownership.owns, hosts))

    def _remove_seeds(self, urls: Sequence[str]) -> None:
        """Take seeds back; a host that has no seed any more leaves the scope."""
        if not urls:
            return
        scope, queues, batch = self._targets.admission.scope, self._context.queues, self._context.pending.batch
        removed = set(urls)
        batch.seeds = [seed for seed in batch.seeds if seed not in removed]
        left = {host_of(seed) for seed in (*self._context.catalog.seeds(), *batch.seeds)}
        for host in {host_of(url) for url in urls}:
            if host not in left:
                scope.remove_seed_host(host)
            if scope.covers_host(host):
                queues.discard(host, removed.__contains__)
            else:
                queues.discard(host)
        self._targets.intake.forget_decisions()


def _of(given: Iterable[Command], *actions: Action) -> list[Command]:
    return [command for command in given if command.action in actions]


def _host(command: Command) -> str:
    """The host that a command is about."""
    return str(command.arguments.get("host") or host_of(command.arguments["url"]))
