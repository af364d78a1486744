"""Settings of the operator, from the environment. Every one is in docs/operator.md, and a test says so."""

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from memory_operator.errors import ConfigurationError


class Settings(BaseSettings):
    """`KEEPSAKE_OPERATOR_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="KEEPSAKE_OPERATOR_", env_ignore_empty=True, frozen=True)

    namespace: str = Field("default", max_length=63, description="Namespace of the operator's Lease and Secret.")
    identity: str = Field("", max_length=253, description="Name of this replica in the Lease; unset: made at start.")
    watch_namespaces: str = Field("", description="Namespaces that are served, with commas between; unset: all.")
    memory_api_image: str = Field("keepsake/memory-api:0.1.0", min_length=1, description="Image of the memory-api.")
    database_image: str = Field("keepsake/postgresql:0.1.0", min_length=1, description="Image of managed databases.")
    image_pull_policy: str = Field(
        "IfNotPresent", pattern="^(Always|IfNotPresent|Never)$", description="When nodes pull these images."
    )
    workers: int = Field(8, ge=1, le=64, description="Workspaces that are worked on at once.")
    sweep_seconds: float = Field(
        600, ge=1, description="Seconds between two looks at everything, less or more a tenth."
    )
    host: str = Field("127.0.0.1", min_length=1, description="Address of the health and metrics port.")
    port: int = Field(8081, ge=0, le=65535, description="The health and metrics port; 0 takes any free one.")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Least severe level logged.")

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are served; none stands for all."""
        return tuple(sorted({name.strip() for name in self.watch_namespaces.split(",") if name.strip()}))


def load_settings() -> Settings:
    """The environment's settings.

    Raises:
        ConfigurationError: naming each variable that cannot be used.
    """
    try:
        return Settings()
    except ValidationError as error:
        said = "; ".join(
            f"KEEPSAKE_OPERATOR_{str(found['loc'][0]).upper()}: {found['msg']}" for found in error.errors()
        )
        raise ConfigurationError(said) from None
