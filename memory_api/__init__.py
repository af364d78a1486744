"""memory-api: durable, ranked memory for the agents of one workspace."""

__version__ = "0.1.0"
