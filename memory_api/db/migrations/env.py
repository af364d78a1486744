"""Alembic's entry: run the migrations over the connection that `memory_api.db.migrate` holds open."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
