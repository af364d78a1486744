"""One function per use case; every edge calls the same one."""
