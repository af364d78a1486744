"""Manifests of MemoryPolicy and Provider read from files, with the API server's verdict and the line at fault."""

from memory_api.manifests.config import config_policy, config_policy_in, config_provider
from memory_api.manifests.config_map import ConfigMapWatch
from memory_api.manifests.policy import load_policy
from memory_api.manifests.provider import load_provider
from memory_api.manifests.secrets import secret_value
from memory_api.manifests.service_account import ServiceAccount
from memory_api.manifests.watch import PolicySource

__all__ = [
    "ConfigMapWatch",
    "PolicySource",
    "ServiceAccount",
    "config_policy",
    "config_policy_in",
    "config_provider",
    "load_policy",
    "load_provider",
    "secret_value",
]
