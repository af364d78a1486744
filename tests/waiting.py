"""Wait for a condition instead of for a time."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], object], *, within: float = 20.0) -> None:
    """Ask again every few milliseconds until the condition holds."""
    give_up = time.monotonic() + within
    while not condition():
        assert time.monotonic() < give_up, "the condition did not come true in time"
        time.sleep(0.005)
