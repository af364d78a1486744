"""Settings of memory-api, from the environment. Every one is in docs/settings.md, and a test says so."""

from pathlib import Path
from typing import Literal
from uuid import UUID

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from memory_api.errors import ConfigurationError
from memory_api.manifests.service_account import FOLDER


class Settings(BaseSettings):
    """`KEEPSAKE_<NAME>`; a value that ends in `_FILE` names a file that holds it."""

    model_config = SettingsConfigDict(env_prefix="KEEPSAKE_", env_ignore_empty=True, frozen=True)

    database_url: SecretStr | None = Field(None, description="postgresql://USER:PASSWORD@HOST:PORT/DATABASE")
    database_url_file: Path | None = Field(None, description="a file that holds the database URL")
    database_pooler: Literal["none", "transaction"] = Field(
        "none", description="transaction: a pooler (PgBouncer) in transaction mode stands before PostgreSQL"
    )
    workspace: str = Field("default", min_length=1, max_length=253, description="name of the workspace served")
    workspace_uid: UUID | None = Field(None, description="uid of the Workspace; unset: made at first start")
    text_config: str = Field(
        "english", pattern=r"^[a-z_][a-z0-9_]{0,62}$", description="text search configuration, fixed at first start"
    )
    policy_file: Path | None = Field(None, description="MemoryPolicy manifest; watched for edits")
    provider_file: Path | None = Field(None, description="Provider manifest of the embedder")
    config_file: Path | None = Field(None, description="what the operator rendered; in place of both manifests")
    config_map: str = Field("", max_length=253, description="ConfigMap that the file comes from; unset: only the file")
    config_map_seconds: float = Field(300, ge=1, description="longest time between two readings of the ConfigMap")
    service_account_dir: Path = Field(FOLDER, description="folder with ca.crt, token and namespace of this pod")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="least severe level logged")

    def resolved_database_url(self) -> str:
        """The database URL, from the variable or the file it names.

        Raises:
            ConfigurationError: neither is set, or the file cannot be read.
        """
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        if self.database_url_file is None:
            raise ConfigurationError(
                "no database: set KEEPSAKE_DATABASE_URL (or KEEPSAKE_DATABASE_URL_FILE), "
                "or run `keepsake dev`, which brings one"
            )
        try:
            return self.database_url_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"KEEPSAKE_DATABASE_URL_FILE={self.database_url_file} cannot be read: {error}"
            ) from error


def load_settings() -> Settings:
    """The environment's settings.

    Raises:
        ConfigurationError: naming each variable that cannot be used, never its value.
    """
    try:
        return Settings()
    except ValidationError as error:
        said = "; ".join(f"KEEPSAKE_{str(found['loc'][0]).upper()}: {found['msg']}" for found in error.errors())
        raise ConfigurationError(said) from None
