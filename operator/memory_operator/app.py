"""Wires the operator together: client, store, watches, queue, Lease, workers. Decides nothing itself."""

import asyncio
import random
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

import structlog
from kubernetes.config import ConfigException

from memory_operator import digest_key, health, kopf_bridge
from memory_operator.desired.group import Images
from memory_operator.errors import ApiError, ConfigurationError, Conflict, Fenced, Transient
from memory_operator.kube.client import KubeClient, connected
from memory_operator.leader import Leadership
from memory_operator.log import configure_logs
from memory_operator.metrics import RECONCILE_SECONDS, RECONCILES, WORKSPACES
from memory_operator.reconcile.tally import Tally
from memory_operator.reconcile.workspace import Reconciler
from memory_operator.runtime.kinds import WATCHED
from memory_operator.runtime.queue import WorkQueue
from memory_operator.runtime.store import Key, Store
from memory_operator.runtime.sweep import listed, settle
from memory_operator.settings import Settings, load_settings

log = structlog.get_logger()
WOKEN_AT_ONCE = 16
TALLY_SECONDS = 0.3
COUNTED = ("Workspace", "Provider", "MemoryPolicy", "Secret")


class Operator:
    """One replica."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.client = KubeClient(connected())
        identity = settings.identity or f"{socket.gethostname()}-{secrets.token_hex(4)}"
        self.leadership = Leadership(self.client, identity=identity, namespace=settings.namespace)
        self.client.may_write = self.leadership.holds
        self.store = Store(digest_key.obtain(self.client, settings.namespace))
        images = Images(settings.memory_api_image, settings.database_image, settings.image_pull_policy)
        self.reconciler = Reconciler(self.store, self.client, images)
        self.queue: WorkQueue[Key] = WorkQueue()
        self.rolling: set[Key] = set()
        self.waiting: set[Key] = set()
        self.tally = Tally(self.store, self.client, everywhere=not settings.namespaces)
        self.count_again = asyncio.Event()
        self.synced = False

    async def run(self, stop: asyncio.Event) -> int:
        """Work until `stop`, or until something that cannot be mended here; the exit code."""
        server = await health.serve(self.settings.host, self.settings.port, self._why_not_ready)
        tasks = [
            asyncio.create_task(stop.wait(), name="stop"),
            asyncio.create_task(kopf_bridge.watch(self._seen, self.settings.namespaces, stop), name="watch"),
            asyncio.create_task(self._work(), name="work"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.set()
            for task in (tasks[0], tasks[2]):
                task.cancel()
            await asyncio.wait(tasks, timeout=10)
            await asyncio.to_thread(self.leadership.release)
            await server.cleanup()
        failed = [task for task in done if not task.cancelled() and task.exception() is not None]
        for task in failed:
            log.error("ended", part=task.get_name(), fault=type(task.exception()).__name__)
        return 0 if tasks[0] in done and not failed else 1

    async def _work(self) -> None:
        """Sweep, lead, and pass; returns when the Lease is lost."""
        await self._sweep()
        self.synced = True
        await self.leadership.acquire()
        async with asyncio.TaskGroup() as group:
            parts = [group.create_task(self._passes()) for _ in range(self.settings.workers)]
            parts.append(group.create_task(self._sweeps()))
            parts.append(group.create_task(self._tallies()))
            await self.leadership.keep()
            for part in parts:
                part.cancel()

    def _seen(self, event: str, body: Mapping[str, Any]) -> None:
        concerned = self.store.forget(body) if event == "DELETED" else self.store.observe(body)
        for key in concerned:
            self.queue.add(key)
        if body["kind"] in COUNTED:
            self.count_again.set()

    async def _sweep(self) -> None:
        for watched in WATCHED:
            before = set(self.store.places(watched.endpoint.kind))
            while True:
                try:
                    found = await asyncio.to_thread(listed, self.client, watched, self.settings.namespaces)
                    break
                except Transient as error:
                    log.warning("sweep", kind=watched.endpoint.kind, fault=str(error))
                    await asyncio.sleep(max(1.0, error.retry_after))
            if watched.optional:
                self.store.cnpg_installed = found is not None
            for key in settle(self.store, watched, found or [], before):
                self.queue.add(key)
        WORKSPACES.set(len(self.store.places("Workspace")))
        self.count_again.set()

    async def _sweeps(self) -> None:
        while True:
            # A tenth less or more, so that replicas and operators do not all ask at once.
            await asyncio.sleep(self.settings.sweep_seconds * random.uniform(0.9, 1.1))  # noqa: S311
            await self._sweep()

    async def _tallies(self) -> None:
        """Count users after changes; of many changes that come together, once."""
        while True:
            await self.count_again.wait()
            await asyncio.sleep(TALLY_SECONDS)
            self.count_again.clear()
            try:
                for key in await asyncio.to_thread(self.tally.write):
                    self.queue.add(key)
            except Fenced:
                continue
            except Transient as error:
                log.warning("tally", fault=str(error))
                self.count_again.set()
                await asyncio.sleep(max(1.0, error.retry_after))

    async def _passes(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self._pass(key)
            finally:
                self.queue.done(key)

    async def _pass(self, key: Key) -> None:
        started, result = time.perf_counter(), "success"
        try:
            outcome = await asyncio.to_thread(self.reconciler.reconcile, key)
        except Fenced:
            return
        except (Transient, Conflict) as error:
            result = "requeue"
            seconds = self.queue.retry(key, getattr(error, "retry_after", 0))
            log.warning("again", workspace="/".join(key), fault=str(error), seconds=round(seconds, 2))
        except Exception as error:
            # A fault of ours: told once per try, further and further apart, and no other Workspace suffers from it.
            result = "error"
            seconds = self.queue.retry(key)
            log.error(
                "pass failed",
                workspace="/".join(key),
                fault=type(error).__name__,
                exc_info=not isinstance(error, ApiError),
            )
        else:
            self.queue.succeeded(key)
            self._after(key, outcome)
        finally:
            RECONCILES.labels("workspace", result).inc()
            RECONCILE_SECONDS.labels("workspace").observe(time.perf_counter() - started)

    def _after(self, key: Key, outcome: Any) -> None:
        if outcome is None:
            self.queue.forget(key)
            self.rolling.discard(key)
            self.waiting.discard(key)
            return
        if outcome.again is not None:
            self.queue.add_after(key, outcome.again)
        if outcome.rolling:
            self.rolling.add(key)
        elif key in self.rolling:
            self.rolling.discard(key)
            self.reconciler.proven = True
            for waiting in list(self.waiting)[:WOKEN_AT_ONCE]:
                self.queue.add(waiting)
        (self.waiting.add if outcome.waiting else self.waiting.discard)(key)
        if not self.waiting and not self.rolling:
            self.reconciler.proven = False

    def _why_not_ready(self) -> str:
        return "" if self.synced else "the cluster has not been looked at yet"


async def _run(settings: Settings) -> int:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    operator = await asyncio.to_thread(Operator, settings)
    return await operator.run(stop)


def main() -> None:
    """`keepsake-operator`."""
    try:
        settings = load_settings()
        configure_logs(settings.log_level)
        code = asyncio.run(_run(settings))
    except (ConfigurationError, ConfigException) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except ApiError as error:
        sys.stderr.write(f"the API server cannot be used: {error}\n")
        sys.exit(1)
    sys.exit(code)


if __name__ == "__main__":
    main()
