"""Every name that the operator gives, and why no two can be the same.

A workspace and a service are joined by a dash, and either may hold dashes: `a-b` + `c` must not meet `a` + `b-c`. So
the plain join serves only services without a dash, where the last dash tells the two apart. Everything else gets a
digest behind two dashes, where a plain join never has two: no workspace ends in a dash and no service starts with one.
"""

import hashlib

# StatefulSet and CronJob names go into labels and into names of pods: 52 letters, less the longest ending below.
LONGEST_BASE = 40
_KEPT_BESIDE_DIGEST = LONGEST_BASE - 10


def base(workspace: str, service: str) -> str:
    """The part that the names of all objects of one service share."""
    plain = f"{workspace}-{service}"
    if "-" not in service and len(plain) <= LONGEST_BASE:
        return plain
    return f"{plain[:_KEPT_BESIDE_DIGEST].rstrip('-')}--{_digest(workspace, service)}"


def memory_api(workspace: str, service: str) -> str:
    """Of everything that belongs to the memory-api."""
    return f"{base(workspace, service)}-memory"


def database(workspace: str, service: str, uid: str) -> str:
    """Of everything that holds data: it bears the Workspace's uid, so that a namesake made later never meets it."""
    kept = f"{workspace}-{service}"[:_KEPT_BESIDE_DIGEST].rstrip("-")
    return f"{kept}-{_digest(uid, service)}-db"


def backup(database_name: str) -> str:
    """Of the CronJob and the volume of dumps."""
    return f"{database_name}-backup"


def _digest(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:8]
