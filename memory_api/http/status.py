"""Health: what the platform asks (/healthz, /readyz), and what people ask (engine-status, memory health)."""

from fastapi import APIRouter, FastAPI, Request, Response

from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf
from memory_api.http.responses import EngineStatusOut, MemoryHealthOut, reply
from memory_api.services.engine_status import engine_status, memory_health
from memory_api.services.standing import Standing, why_not_ready
from memory_api.telemetry import Metrics

router = APIRouter(route_class=StrictRoute, tags=["status"])


@router.get(
    "/memory/engine-status",
    response_model=EngineStatusOut,
    summary="Which arms of recall answer",
    operation_id="engine_status",
)
async def engine_status_(request: Request, ctx: ContextOf, caller: CallerOf) -> Response:
    """Which arms of recall answer and why, what the store is, and what is off."""
    return reply(await engine_status(ctx, request.app.state.standing))


@router.get(
    "/memory/health",
    response_model=MemoryHealthOut,
    summary="How many memories, how many vectors",
    operation_id="memory_health",
)
async def memory_health_(request: Request, ctx: ContextOf, caller: CallerOf) -> Response:
    """How many memories there are, and how many have their vector."""
    return reply(await memory_health(ctx, request.app.state.standing))


async def healthz() -> Response:
    """The process is up. Nothing else: a slow database must not restart pods (BR-159)."""
    return Response("ok", media_type="text/plain")


def health_app(standing: Standing, metrics: Metrics) -> FastAPI:
    """The app of the health port: /healthz and /readyz."""
    app = FastAPI(title="Keepsake health", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_api_route("/healthz", healthz, methods=["GET"])

    @app.get("/readyz")
    async def readyz() -> Response:
        reason = await why_not_ready(standing)
        metrics.ready.set(0 if reason else 1)
        if reason:
            return reply({"status": "not ready", "reason": reason}, 503)
        degraded = standing.degraded()
        return reply({"status": "degraded" if degraded else "ready", "degraded": degraded})

    return app
