"""A process that owns an embedded server, for tests that kill it. Not a test.

    python owner.py FOLDER [NAME PROGRAMS]

Prints one JSON line when the server is ready, then runs each line of its input as SQL and prints the answer as JSON.
Ends in order at the end of its input or at Ctrl-C. A ConfigurationError is one line on stderr and exit code 2, as in
the command-line program. FLEETING in the environment turns the waiting for the disk off.

With NAME, root becomes that user first, after all imports: the interpreter itself may lie where nobody but root can
go, and so may the wheel, which is copied to PROGRAMS.
"""

import json
import os
import pwd
import sys
from pathlib import Path

from memory_api.embedded import Binaries, EmbeddedPostgres, embedded_binaries
from memory_api.embedded.binaries import copy_binaries
from memory_api.errors import ConfigurationError


def main() -> int:
    folder = Path(sys.argv[1])
    binaries = become(sys.argv[2], Path(sys.argv[3])) if len(sys.argv) > 2 else None
    try:
        with EmbeddedPostgres(folder, binaries=binaries, crash_safe="FLEETING" not in os.environ) as postgres:
            say({"pid": postgres.pid, "dsn": postgres.dsn("postgres")})
            for line in sys.stdin:
                say(postgres.query(line))
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def become(name: str, programs: Path) -> Binaries:
    """Give root's rights up for good; answer with programs that this user could have installed."""
    uid = int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid
    binaries = copy_binaries(embedded_binaries(), programs)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    return binaries


def say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


sys.exit(main())
