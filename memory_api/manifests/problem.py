"""One thing that is wrong in a manifest, and where."""

import re
from dataclasses import dataclass

Path = tuple[str | int, ...]
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Problem:
    """`text` about the field at `path`.

    `value` is what stands there, as JSON, where the API server repeats it. `unnamed`: the text names the field itself.
    """

    path: Path
    text: str
    value: str | None = None
    unnamed: bool = False

    def said(self, *, show_value: bool = True) -> str:
        """The text as the API server words it."""
        if self.value is None:
            return self.text
        return f"Invalid value: {self.value}: {self.text}" if show_value else f"Invalid value: {self.text}"


def dotted(path: Path) -> str:
    """The path as kubectl writes it: `spec.schema.kinds[0].name`, `spec.tiers.user.perCategory[memory:health]`."""
    text = ""
    for part in path:
        if isinstance(part, int) or not _PLAIN_KEY.fullmatch(part):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
