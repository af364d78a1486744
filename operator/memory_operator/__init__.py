"""The Keepsake operator: MemoryPolicy, Provider and Workspace manifests become running memory-apis."""

__version__ = "0.1.0"
