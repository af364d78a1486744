"""/healthz, /readyz and /metrics of the operator."""

from collections.abc import Callable

from aiohttp import web
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from memory_operator.metrics import REGISTRY


async def serve(host: str, port: int, why_not_ready: Callable[[], str]) -> web.AppRunner:
    """Answer until the runner is cleaned up. `why_not_ready` is empty when the operator has seen the cluster."""

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readyz(_: web.Request) -> web.Response:
        reason = why_not_ready()
        return web.json_response(
            {"status": "not ready" if reason else "ready", "reason": reason}, status=503 if reason else 200
        )

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(REGISTRY), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner
