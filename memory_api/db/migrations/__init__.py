"""The schema, step by step (Alembic). Every step is one transaction and may be run again."""
