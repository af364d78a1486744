"""Where a Provider's base URL may lead.

A manifest must not turn memory-api into a way to a cloud's metadata service, which hands out credentials to whoever
can reach it from inside. Loopback and private ranges are allowed: in-cluster services live there. What counts is the
address that is connected to, so `transport` asks `is_refused` after the name was resolved; `checked_base_url` only
finds early what can be seen early.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from memory_api.errors import ConfigurationError

_REFUSED = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",  # link-local, and the metadata address of most clouds
        "100.100.100.200/32",  # metadata of Alibaba Cloud
        "192.0.0.192/32",  # metadata of Oracle Cloud, older images
        "168.63.129.16/32",  # the host channel of Azure
        "224.0.0.0/4",
        "240.0.0.0/4",
        "fe80::/10",
        "fd00:ec2::/32",  # metadata and pod credentials of AWS
        "fd20:ce::254/128",  # metadata of Google Cloud
        "ff00::/8",
    )
)
_REFUSED_NAMES = frozenset({"metadata.google.internal", "metadata.goog"})
_EMBEDDING_PREFIXES = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))


def is_refused_name(host: str) -> bool:
    return host.rstrip(".").lower() in _REFUSED_NAMES


def is_refused(address: str) -> bool:
    """Whether nothing may be sent there; also true for what is no address at all."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return True
    return any(candidate in network for candidate in _meant(parsed) for network in _REFUSED)


def _meant(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """The address itself and every IPv4 address that it stands for: mapped, translated, 6to4 or Teredo."""
    if isinstance(address, IPv4Address):
        return [address]
    meant: list[IPv4Address | IPv6Address] = [IPv6Address(int(address))]
    meant += [inner for inner in (address.ipv4_mapped, address.sixtofour) if inner is not None]
    meant += address.teredo or ()
    if any(meant[0] in prefix for prefix in _EMBEDDING_PREFIXES):
        meant.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return meant


def checked_base_url(provider: str, url: str) -> str:
    """Refuse a URL that can never be right; one without a path gets `/v1`, where compatible servers answer."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _wrong(provider, "is no URL") from None
    if any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        raise _wrong(provider, "holds spaces or control characters")
    if parts.scheme not in ("http", "https") or not host:
        raise _wrong(provider, "must begin with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise _wrong(provider, "holds a user name or password; put the key into credential.secretRef")
    if "?" in url or "#" in url:
        raise _wrong(provider, "must not hold a query or a fragment")
    if is_refused_name(host) or _is_refused_literal(host):
        raise _wrong(provider, f"leads to {host}, a link-local or metadata address, which is refused")
    path = parts.path.rstrip("/") or "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}"


def _is_refused_literal(host: str) -> bool:
    """An address written out, be it as 169.254.169.254, 0xa9fea9fe, 2852039166 or 0251.0376.0251.0376."""
    try:
        return is_refused(str(ip_address(host)))
    except ValueError:
        pass
    try:
        return is_refused(socket.inet_ntoa(socket.inet_aton(host)))
    except OSError:
        return False


def _wrong(provider: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"Provider {provider!r}: baseURL {what}")
