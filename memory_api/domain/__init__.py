"""Pure rules of memory: no I/O, no clock, no environment."""
