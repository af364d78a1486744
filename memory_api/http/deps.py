"""What a route gets from its request: the services' context, the caller, and headers that are understood."""

import re
from typing import Annotated

from fastapi import Depends, Header, Request

from memory_api.domain.caller import ANYONE, Caller
from memory_api.errors import UnreadableRequest
from memory_api.services.context import Context

_REVISION = re.compile(r'\s*(?:W/)?"?(\d{1,9})"?\s*\Z')


def _context(request: Request) -> Context:
    context: Context = request.app.state.context()
    return context


def _caller() -> Caller:
    """Without authentication everybody is the admin of `keepsake dev`; credentials come in here."""
    return ANYONE


def _if_match(
    if_match: Annotated[str | None, Header(description="The revision that was read; another one is 412.")] = None,
) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    found = _REVISION.match(if_match)
    if not found:
        raise UnreadableRequest(
            'If-Match must name a revision, such as "3"', [(("header", "If-Match"), "not a revision")]
        )
    return int(found[1])


ContextOf = Annotated[Context, Depends(_context)]
CallerOf = Annotated[Caller, Depends(_caller)]
IfMatch = Annotated[int | None, Depends(_if_match)]
