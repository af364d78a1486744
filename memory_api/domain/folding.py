"""Near-identical hits become one, so that twenty wordings of a fact do not crowd out the next fact."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from uuid import UUID

from memory_api.domain.particulars import Particulars, particulars


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked memory; `alike` are those ranked before it whose vectors are near to its own."""

    id: UUID
    text: str
    alike: Set[UUID]


def fold(ranked: Sequence[Candidate]) -> dict[UUID, list[UUID]]:
    """The hits that stay, best first, each with those folded under it.

    A memory is folded under a better one that is near to it, or near to one folded there already, or worded the same,
    and that leaves out none of its numbers, names and denials.
    """
    kept: dict[UUID, list[UUID]] = {}
    leader: dict[UUID, UUID] = {}
    said: dict[UUID, Particulars] = {}
    worded: dict[str, UUID] = {}
    for candidate in ranked:
        said[candidate.id] = mine = particulars(candidate.text)
        plain = " ".join(candidate.text.casefold().split())
        near = dict.fromkeys(best for other, best in leader.items() if other in candidate.alike)
        under = worded.get(plain) or next((best for best in near if said[best].covers(mine)), None)
        if under is None:
            kept[candidate.id] = []
        else:
            kept[under].append(candidate.id)
        leader[candidate.id] = under or candidate.id
        worded.setdefault(plain, leader[candidate.id])
    return kept
