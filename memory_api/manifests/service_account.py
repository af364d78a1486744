"""Who this pod is to the API server: the files that Kubernetes mounts into it, and the address that it is given."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from memory_api.errors import ConfigurationError

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 10.0


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Where the API server is, and the folder with `ca.crt`, `token` and `namespace`."""

    url: str
    folder: Path

    @classmethod
    def of_this_pod(cls, folder: Path = FOLDER, environment: Mapping[str, str] | None = None) -> "ServiceAccount":
        """What Kubernetes has told this pod.

        Raises:
            ConfigurationError: this is no pod.
        """
        environment = os.environ if environment is None else environment
        host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
        if not host:
            raise ConfigurationError(
                "KEEPSAKE_CONFIG_MAP is followed from inside a cluster only: KUBERNETES_SERVICE_HOST is not set; "
                "unset KEEPSAKE_CONFIG_MAP to follow the file alone"
            )
        return cls(f"https://{f'[{host}]' if ':' in host else host}:{port}", folder)

    def namespace(self) -> str:
        """The pod's own namespace.

        Raises:
            ConfigurationError: the folder does not say.
        """
        try:
            return (self.folder / "namespace").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{self.folder}/namespace cannot be read: {error}") from None

    def client(self) -> httpx.AsyncClient:
        """A client with the token and the CA as they are now: both are rotated in place while we run. Blocks.

        Raises:
            OSError: a file cannot be read, or holds no certificate.
        """
        token = (self.folder / "token").read_bytes().strip().decode("ascii", "replace")
        return httpx.AsyncClient(
            base_url=self.url,
            verify=ssl.create_default_context(cafile=str(self.folder / "ca.crt")),
            headers={"Authorization": f"Bearer {token}", "User-Agent": "keepsake-memory-api"},
            timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            trust_env=False,
        )
