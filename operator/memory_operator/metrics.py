"""Every metric of the operator, under the names that dashboards of controllers know. docs/operator.md lists them."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
REQUESTS = Counter(
    "rest_client_requests", "Requests to the API server.", ["verb", "resource", "code"], registry=REGISTRY
)
RECONCILES = Counter(
    "controller_runtime_reconcile", "Passes over a Workspace by outcome.", ["controller", "result"], registry=REGISTRY
)
RECONCILE_SECONDS = Histogram(
    "controller_runtime_reconcile_time_seconds", "Time of a pass.", ["controller"], registry=REGISTRY
)
QUEUE_DEPTH = Gauge("workqueue_depth", "Workspaces that wait for a pass.", ["name"], registry=REGISTRY)
QUEUE_RETRIES = Counter("workqueue_retries", "Passes that are tried again.", ["name"], registry=REGISTRY)
LEADER = Gauge("leader_election_master_status", "1 while this replica leads.", ["name"], registry=REGISTRY)
WORKSPACES = Gauge("keepsake_workspaces", "Workspaces known.", registry=REGISTRY)
EVENTS = Counter("keepsake_watch_events", "Events of watches.", ["kind"], registry=REGISTRY)
