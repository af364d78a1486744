"""The sample memories of `keepsake dev`: all four tiers, several ages, a conversation, a container, a relation."""

from typing import Any

USER = "ada"
AGENT = "concierge"
QUESTION = "Which seat does Ada like, and how do refunds work?"

# (tier's route, days since it was learnt, what is saved)
MEMORIES: list[tuple[str, int, dict[str, Any]]] = [
    ("memories", 0, {"user_id": USER, "type": "preference", "content": "Ada prefers window seats on long flights."}),
    ("memories", 1, {"user_id": USER, "type": "preference", "content": "Ada uses metric units and 24-hour times."}),
    (
        "memories",
        40,
        {"user_id": USER, "type": "event", "content": "Ada flew to Lisbon in October and lost her blue suitcase."},
    ),
    (
        "memories",
        5,
        {
            "user_id": USER,
            "type": "fact",
            "facet": "project:atlas",
            "content": "Ada leads project Atlas; its budget code is ATL-2291.",
        },
    ),
    (
        "memories",
        3,
        {
            "user_id": USER,
            "agent_id": AGENT,
            "type": "observation",
            "content": "Ada asked this agent about refunds twice and wants short answers.",
            "session_id": "chat-41",
            "turn_range": [3, 4],
        },
    ),
    (
        "memories",
        3,
        {
            "user_id": USER,
            "agent_id": AGENT,
            "type": "observation",
            "content": "She wants the money back on her card, not as a voucher.",
            "session_id": "chat-41",
            "turn_range": [5, 6],
        },
    ),
    (
        "agent-memories",
        20,
        {
            "agent_id": AGENT,
            "type": "procedure",
            "content": "This agent's booking flow needs a confirmation step before a card is charged.",
        },
    ),
    (
        "institutional/memories",
        200,
        {
            "type": "fact",
            "title": "Refund policy",
            "content": "Refunds are paid within 30 days to the card that was charged.",
        },
    ),
    (
        "institutional/memories",
        90,
        {"type": "procedure", "content": "Refund errors ERR-4471-QX are escalated to the payments team."},
    ),
]

# (source, target, type): places in MEMORIES.
RELATIONS: list[tuple[int, int, str]] = [(7, 8, "see_also")]
