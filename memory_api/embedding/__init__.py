"""Embedding providers: text in, unit vectors out."""
