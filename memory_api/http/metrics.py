"""The app of the metrics port. What stands for now rather than counts is read when it is asked for."""

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_api.services.standing import Standing, measure
from memory_api.telemetry import Metrics


def metrics_app(standing: Standing, metrics: Metrics) -> Starlette:
    """The app of the metrics port: /metrics."""

    async def scrape(_request: Request) -> Response:
        await measure(standing, metrics)
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/metrics", scrape)])
