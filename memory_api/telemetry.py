"""Logs and metrics. Logs are JSON lines with request ids; neither holds contents, ids of people or secrets."""

import logging
import sys
import traceback
from typing import Any, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from memory_api.errors import KeepsakeError

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure_logs(level: str = "info", *, to: TextIO | None = None) -> None:
    """One JSON object a line, on standard error unless `to` says otherwise; what libraries warn of, too."""
    stream = to or sys.stderr
    steps: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _name_fault,
    ]
    render = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[*steps, render],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=steps, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render]
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def _name_fault(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Put the way that an exception came in the place of its words, which may quote a memory or a credential."""
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()
    error = found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException):
        event["trace"] = _way_of(error)
    return event


def _way_of(error: BaseException) -> list[str]:
    way: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        ours = f": {cause}" if isinstance(cause, KeepsakeError) else ""
        state = getattr(cause, "sqlstate", None)
        way.append(f"{type(cause).__module__}.{type(cause).__qualname__}{f' {state}' if state else ''}{ours}")
        way += [
            f"  {place.filename}:{place.lineno} {place.name}" for place in traceback.extract_tb(cause.__traceback__)
        ]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return way


class Metrics:
    """Every metric of memory-api, in a registry of its own, so that two servers in one process do not collide."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        seconds = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
        self.requests = Counter(
            "keepsake_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.request_seconds = Histogram(
            "keepsake_http_request_seconds",
            "Time to answer a request.",
            ["method", "route"],
            buckets=seconds,
            registry=self.registry,
        )
        self.saves = Counter("keepsake_saves", "Memories saved.", ["embedding"], registry=self.registry)
        self.recalls = Counter(
            "keepsake_recalls", "Recalls by the strategy that answered.", ["strategy"], registry=self.registry
        )
        self.recall_degraded = Counter(
            "keepsake_recall_degraded", "Recalls that had to leave something out.", ["reason"], registry=self.registry
        )
        self.embeddings = Counter(
            "keepsake_embedding_calls",
            "Calls to the embedding provider.",
            ["operation", "outcome"],
            registry=self.registry,
        )
        self.embedding_seconds = Histogram(
            "keepsake_embedding_seconds",
            "Time the embedding provider took.",
            ["operation"],
            buckets=seconds,
            registry=self.registry,
        )
        self.backfilled = Counter(
            "keepsake_backfill_embedded", "Memories that got their vector later.", registry=self.registry
        )
        self.queue = Gauge(
            "keepsake_embedding_queue", "Memories that wait for a vector.", ["state"], registry=self.registry
        )
        self.policy_valid = Gauge(
            "keepsake_policy_valid",
            "1 while the policy file holds; 0 while the last good one is kept.",
            registry=self.registry,
        )
        self.policy_followed = Gauge(
            "keepsake_policy_followed",
            "1 while edits of the policy are heard of; 0 while the API server does not tell.",
            registry=self.registry,
        )
        self.policy_watch_faults = Counter(
            "keepsake_policy_watch_faults", "Failed tries to follow the policy.", ["fault"], registry=self.registry
        )
        self.ready = Gauge("keepsake_ready", "1 while /readyz answers 200.", registry=self.registry)
        self.policy_valid.set(1)
        self.policy_followed.set(1)
        for state in ("pending", "failed"):
            self.queue.labels(state)
