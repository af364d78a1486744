"""Where a Provider's API key comes from when no Kubernetes mounts it. Values never appear in a message."""

import os
from collections.abc import Mapping
from pathlib import Path

from memory_api.errors import ConfigurationError

SECRETS_DIR = "KEEPSAKE_SECRETS_DIR"
API_KEY = "KEEPSAKE_PROVIDER_API_KEY"
API_KEY_FILE = "KEEPSAKE_PROVIDER_API_KEY_FILE"
HOW_TO_GIVE = f"put it into a file <name>/<key> below the folder {SECRETS_DIR}, or set {API_KEY} or {API_KEY_FILE}"
_LARGEST = 64 * 1024


def secret_value(name: str, key: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The value of `key` in secret `name`: a file of the secrets folder, else the variable, else the file it names.

    Raises:
        ConfigurationError: a file that is named but cannot be read, or holds what cannot be a key.
    """
    environment = os.environ if environment is None else environment
    what = f"key {key} of secret {name}"
    folder = environment.get(SECRETS_DIR)
    if folder:
        file = Path(folder) / name / key
        if file.is_file():
            return _read(file, what)
    if environment.get(API_KEY):
        return checked_secret(environment[API_KEY], what)
    if environment.get(API_KEY_FILE):
        return _read(Path(environment[API_KEY_FILE]), what)
    return None


def checked_secret(value: str, what: str) -> str:
    """The value without the line break that editors leave behind.

    Raises:
        ConfigurationError: an empty value, or one that no HTTP header can carry.
    """
    value = value.removesuffix("\n").removesuffix("\r")
    if not value.strip():
        raise ConfigurationError(f"{what} is empty")
    if not (value.isascii() and value.isprintable()):
        raise ConfigurationError(f"{what} holds control characters or letters outside ASCII, which no API key has")
    return value


def _read(file: Path, what: str) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigurationError(f"{what} cannot be read from {file}: {error.strerror}") from None
    if len(raw) > _LARGEST:
        raise ConfigurationError(f"{what} in {file} is larger than {_LARGEST // 1024} KiB")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{what} in {file} is not UTF-8") from None
    return checked_secret(text, what)
