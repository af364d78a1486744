"""Who asks. Every service takes a caller, so that what a credential allows holds on every path."""

from dataclasses import dataclass
from typing import Literal

from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest

Role = Literal["admin"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The credential behind a request. `keepsake dev` and `--insecure` know one: an admin who may name any subject."""

    role: Role = "admin"

    def act_for(self, subject: Subject) -> Subject:
        """The subject this caller may act for when it asks to act for `subject`."""
        return subject


ANYONE = Caller()


def require_user_or_agent(subject: Subject) -> None:
    """Saves through `/memories` belong to somebody; the institutional tier has routes of its own."""
    if subject.user is None and subject.agent is None:
        raise InvalidRequest(
            "name a user_id or an agent_id; institutional memories are saved with POST /api/v1/institutional/memories",
            [(("user_id",), "a user_id or an agent_id is required")],
        )
