"""Where a base URL may lead: everywhere but to link-local and metadata addresses, however they are spelt."""

import socket

import httpx2
import pytest

from embedding_server import EmbeddingServer
from memory_api.embedding.addresses import checked_base_url, is_refused, is_refused_name
from memory_api.embedding.factory import build_provider
from memory_api.embedding.guard import GuardedProvider
from memory_api.embedding.openai import OpenAIEmbedder
from memory_api.embedding.provider import ProviderConfig, Timeouts
from memory_api.embedding.transport import CheckedNetwork, CheckedTransport, RefusedError, resolve
from memory_api.errors import ConfigurationError, EmbeddingError


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "169.254.0.1", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "fe80::1", "fe80::1%eth0", "febf::1", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
        "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::a9fe:a9fe", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe",
        "2002:a9fe:a9fe::1", "::ffff:100.100.100.200", "224.0.0.1", "255.255.255.255", "ff02::1", "no address", "",
    ],
)  # fmt: skip
def test_link_local_and_metadata_addresses_are_refused(address: str) -> None:
    assert is_refused(address)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.96.0.12", "172.16.3.4", "192.168.1.1", "100.64.0.1", "fd12:3456::1", "1.1.1.1",
     "2606:4700::1111", "::ffff:10.0.0.1"],
)  # fmt: skip
def test_loopback_private_and_public_addresses_are_allowed(address: str) -> None:
    assert not is_refused(address)


@pytest.mark.parametrize("name", ["metadata.google.internal", "METADATA.google.internal.", "metadata.goog"])
def test_names_of_metadata_services_are_refused(name: str) -> None:
    assert is_refused_name(name)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://host/v1", "http"),
        ("file:///etc/passwd", "http"),
        ("host:8080/v1", "http"),
        ("http://", "host"),
        ("http:///v1", "host"),
        ("http://user@host/v1", "credential"),
        ("http://user:secret@host/v1", "credential"),
        ("http://host/v1?key=secret", "query"),
        ("http://host/v1?", "query"),
        ("http://host/v1#x", "fragment"),
        ("http://ho st/v1", "spaces"),
        ("http://host\\@other/v1", "control"),
        ("http://host\n/v1", "control"),
        ("http://host:99999/v1", "no URL"),
        ("http://[fe80::1/v1", "no URL"),
        ("http://169.254.169.254/v1", "refused"),
        ("http://2852039166/v1", "refused"),
        ("http://0xa9fea9fe/v1", "refused"),
        ("http://0251.0376.0251.0376/v1", "refused"),
        ("http://169.254.43518/v1", "refused"),
        ("http://[fe80::1]/v1", "refused"),
        ("http://[::ffff:169.254.169.254]:80/v1", "refused"),
        ("http://metadata.google.internal/computeMetadata/v1", "refused"),
    ],
)
def test_a_base_url_that_can_never_be_right_is_refused_early(url: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as caught:
        checked_base_url("p", url)
    assert "secret" not in str(caught.value).replace("secretRef", "")


@pytest.mark.parametrize(
    ("url", "became"),
    [
        ("http://ollama.models.svc:11434", "http://ollama.models.svc:11434/v1"),
        ("http://ollama:11434/", "http://ollama:11434/v1"),
        ("https://gateway.example.org/openai/v1/", "https://gateway.example.org/openai/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("HTTP://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
    ],
)
def test_a_base_url_without_a_path_gets_v1(url: str, became: str) -> None:
    assert checked_base_url("p", url) == became


def resolving_to(*addresses: str):
    async def resolver(host: str, port: int) -> list[str]:
        del host, port
        return list(addresses)

    return resolver


def a_provider(base_url: str, *resolved: str) -> GuardedProvider:
    config = ProviderConfig(name="p", type="vllm", model="m", dimensions=8, base_url=base_url)
    transport = CheckedTransport(most_bytes=100_000, secure=False, network=CheckedNetwork(resolving_to(*resolved)))
    return GuardedProvider(OpenAIEmbedder(config, transport=transport), config)


@pytest.mark.parametrize(
    "resolved", [("169.254.169.254",), ("127.0.0.1", "169.254.169.254"), ("fe80::1%2",), ("::ffff:169.254.169.254",)]
)
async def test_a_name_that_stands_for_a_refused_address_is_refused_when_connecting(resolved: tuple[str, ...]) -> None:
    provider = a_provider("http://innocent.example.org/v1", *resolved)
    with pytest.raises(EmbeddingError, match="link-local or metadata") as caught:
        await provider.embed_query("tea")
    assert caught.value.fault == "unavailable"
    await provider.aclose()


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """`innocent.example.org` does not exist: only the resolver's answer can have led to the server."""
    async with EmbeddingServer(dimensions=8) as server:
        provider = a_provider(f"http://innocent.example.org:{server.port}/v1", "127.0.0.1")
        assert len(await provider.embed_query("tea")) == 8
        assert server.requests[0].headers["host"] == f"innocent.example.org:{server.port}"
        await provider.aclose()


async def test_the_next_address_is_tried_when_the_first_does_not_answer() -> None:
    async with EmbeddingServer(dimensions=8) as server:
        provider = a_provider(f"http://two.example.org:{server.port}/v1", "127.0.0.2", "127.0.0.1")
        assert len(await provider.embed_query("tea")) == 8
        await provider.aclose()


async def test_spellings_that_only_the_resolver_understands_are_refused_when_connecting() -> None:
    network = CheckedNetwork()
    for spelling in ("2852039166", "0xa9fea9fe", "0251.0376.0251.0376"):
        with pytest.raises(RefusedError):
            await network.connect_tcp(spelling, 80, timeout=1.0)


async def test_a_name_without_an_address_is_unavailable() -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(host, port)

    config = ProviderConfig(name="p", type="vllm", model="m", dimensions=8, base_url="http://nowhere.example.org/v1")
    transport = CheckedTransport(most_bytes=100_000, secure=False, network=CheckedNetwork(unknown))
    provider = GuardedProvider(OpenAIEmbedder(config, transport=transport), config)
    with pytest.raises(EmbeddingError) as caught:
        await provider.embed_query("tea")
    assert caught.value.fault == "unavailable"
    await provider.aclose()


async def test_sockets_in_the_file_system_are_refused() -> None:
    with pytest.raises(RefusedError):
        await CheckedNetwork().connect_unix_socket("/run/anything.sock")


async def test_names_are_resolved_to_plain_addresses() -> None:
    assert set(await resolve("localhost", 80)) <= {"127.0.0.1", "::1"}


async def test_an_https_provider_never_speaks_in_the_clear() -> None:
    async with EmbeddingServer(dimensions=8) as server:
        config = ProviderConfig(
            name="p", type="openai", model="m", dimensions=8, base_url=server.base_url.replace("http:", "https:"),
            timeouts=Timeouts(query=0.3),
        )  # fmt: skip
        provider = build_provider(config)
        with pytest.raises(EmbeddingError):
            await provider.embed_query("tea")
        assert server.requests == []
        await provider.aclose()


def test_the_transport_is_one_that_the_client_accepts() -> None:
    assert issubclass(CheckedTransport, httpx2.AsyncBaseTransport)
