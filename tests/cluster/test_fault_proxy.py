"""The proxy does to a client what it is told, and the API server behind it is real."""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.fault_proxy import FaultProxy
from tests.cluster.faults import (
    CutWatch,
    Delay,
    ExpireWatch,
    FailAfter,
    LoseAnswer,
    LoseEvents,
    Refuse,
    Stale,
    read_request,
)
from waiting import eventually


class Client:
    """Config maps of one namespace, by a service account that may edit them, through the proxy."""

    def __init__(self, proxy: FaultProxy, control_plane: ControlPlane, namespace: str) -> None:
        self.http = httpx.Client(
            base_url=proxy.url,
            verify=ssl.create_default_context(cafile=control_plane.ca),
            headers={"Authorization": f"Bearer {control_plane.token('editor', namespace)}"},
            trust_env=False,
            timeout=10,
        )
        self.place = f"/api/v1/namespaces/{namespace}/configmaps"
        self._watches: list[Watch] = []

    def watch(self, name: str) -> "Watch":
        self._watches.append(Watch(self, name))
        return self._watches[-1]

    def close(self) -> None:
        for watch in self._watches:
            watch.join()
        self.http.close()

    def create(self, name: str, **data: str) -> httpx.Response:
        return self.http.post(self.place, json={"metadata": {"name": name}, "data": data})

    def put(self, name: str, **data: str) -> httpx.Response:
        return self.http.put(f"{self.place}/{name}", json={"metadata": {"name": name}, "data": data})

    def get(self, name: str) -> httpx.Response:
        return self.http.get(f"{self.place}/{name}")

    def names(self) -> set[str]:
        found = self.http.get(self.place).raise_for_status().json()["items"]
        return {item["metadata"]["name"] for item in found} - {"kube-root-ca.crt"}


class Watch:
    """A watch in a thread: what came, and how it ended."""

    def __init__(self, client: Client, name: str) -> None:
        self.events: list[tuple[str, Any]] = []
        self.ended = ""
        self._open = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(client, name), daemon=True)
        self._thread.start()
        assert self._open.wait(10)

    def _read(self, client: Client, name: str) -> None:
        query = {"watch": "true", "fieldSelector": f"metadata.name={name}", "timeoutSeconds": "30"}
        try:
            with client.http.stream("GET", client.place, params=query, timeout=40) as answer:
                self._open.set()
                for line in answer.iter_lines():
                    event = json.loads(line)
                    self.events.append((event["type"], event["object"].get("data", event["object"].get("code"))))
            self.ended = "whole"
        except httpx.TransportError:
            self.ended = "cut"

    def join(self) -> None:
        self._thread.join(10)


@pytest.fixture
def client(fault_proxy: FaultProxy, control_plane: ControlPlane, namespace: str) -> Iterator[Client]:
    """Give a client with rights in its namespace alone."""
    control_plane.kubectl(
        "create", "rolebinding", "editor", "--clusterrole=edit", f"--serviceaccount={namespace}:editor", "-n", namespace
    )
    opened = Client(fault_proxy, control_plane, namespace)
    eventually(lambda: opened.http.get(opened.place).status_code == 200)  # the authorizer has seen the binding
    fault_proxy.forget_requests()
    yield opened
    fault_proxy.cut_watches()
    opened.close()


@pytest.mark.parametrize(
    ("method", "path", "query", "told"),
    [
        ("GET", "/api/v1/pods", {}, ("list", "", "pods", "", "", "")),
        ("GET", "/api/v1/pods", {"watch": "1"}, ("watch", "", "pods", "", "", "")),
        ("GET", "/api/v1/namespaces", {}, ("list", "", "namespaces", "", "", "")),
        ("GET", "/api/v1/namespaces/a", {}, ("get", "", "namespaces", "", "a", "")),
        ("PUT", "/api/v1/namespaces/a/finalize", {}, ("update", "", "namespaces", "", "a", "finalize")),
        ("POST", "/api/v1/namespaces/a/pods/p/eviction", {}, ("create", "", "pods", "a", "p", "eviction")),
        ("PATCH", "/apis/apps/v1/namespaces/a/deployments/d", {}, ("patch", "apps", "deployments", "a", "d", "")),
        ("DELETE", "/apis/apps/v1/deployments", {}, ("deletecollection", "apps", "deployments", "", "", "")),
        ("GET", "/apis/apps/v1", {}, ("other", "", "", "", "", "")),
        ("GET", "/readyz", {}, ("other", "", "", "", "", "")),
    ],
)  # fmt: skip
def test_a_request_is_told_in_kubernetes_words(
    method: str, path: str, query: dict[str, str], told: tuple[str, ...]
) -> None:
    request = read_request(method, path, query)
    assert told == (
        request.verb, request.group, request.resource, request.namespace, request.name, request.subresource
    )  # fmt: skip


def test_without_a_fault_it_changes_nothing_and_counts(client: Client, fault_proxy: FaultProxy) -> None:
    assert client.create("a", x="1").status_code == 201
    assert client.put("a", x="2").json()["data"] == {"x": "2"}
    assert client.names() == {"a"}
    assert fault_proxy.counts() == {("create", "configmaps"): 1, ("update", "configmaps"): 1, ("list", "configmaps"): 1}
    assert [request.status for request in fault_proxy.requests] == [201, 200, 200]
    assert [(write.verb, write.name) for write in fault_proxy.writes()] == [("create", ""), ("update", "a")]


def test_rights_are_those_of_the_token(client: Client) -> None:
    assert client.http.get("/api/v1/nodes").status_code == 403


def test_kubectl_works_through_it(
    control_plane: ControlPlane, fault_proxy: FaultProxy, client: Client, namespace: str
) -> None:
    kubeconfig = fault_proxy.kubeconfig(control_plane.token("editor", namespace), namespace=namespace)
    control_plane.kubectl(f"--kubeconfig={kubeconfig}", "create", "configmap", "by-kubectl")
    assert client.names() == {"by-kubectl"}


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Refuse.conflict(), 409),
        (Refuse.too_many(7), 429),
        (Refuse.gone(), 410),
        (Refuse.expired_token(), 401),
        (Refuse(503), 503),
    ],
    ids=str,
)
def test_a_refusal_reads_like_the_api_servers(
    fault: Refuse, status: int, client: Client, fault_proxy: FaultProxy
) -> None:
    fault_proxy.inject(fault, "create", resource="configmaps", times=1, skip=1)
    assert client.create("a").status_code == 201
    refused = client.create("b")
    assert (refused.status_code, refused.json()["kind"], refused.json()["code"]) == (status, "Status", status)
    assert refused.headers.get("Retry-After") == ("7" if status == 429 else None)
    assert client.names() == {"a"}
    assert client.create("b").status_code == 201


def test_a_slow_answer_comes_all_the_same(client: Client, fault_proxy: FaultProxy) -> None:
    fault_proxy.inject(Delay(0.3), "get")
    begun = time.monotonic()
    assert client.get("absent").status_code == 404
    assert time.monotonic() - begun >= 0.3


def test_a_write_whose_answer_is_lost_has_happened(client: Client, fault_proxy: FaultProxy) -> None:
    fault_proxy.inject(FailAfter(504), "create", times=1)
    assert client.create("a").status_code == 504
    fault_proxy.inject(LoseAnswer(), "create", times=1)
    with pytest.raises(httpx.TransportError):
        client.create("b")
    fault_proxy.inject(LoseAnswer(20), "create", times=1)
    with pytest.raises(httpx.TransportError):
        client.create("c")
    assert client.names() == {"a", "b", "c"}


def test_a_stale_read_shows_what_was(client: Client, fault_proxy: FaultProxy) -> None:
    version = client.create("a", x="old").json()["metadata"]["resourceVersion"]
    client.put("a", x="new")
    client.create("b")
    stale = fault_proxy.inject(Stale(version), "get", "list")
    assert client.get("a").json()["data"] == {"x": "old"}
    assert client.get("a").json()["kind"] == "ConfigMap"
    assert client.get("b").status_code == 404
    assert client.names() == {"a"}
    stale.remove()
    assert client.get("a").json()["data"] == {"x": "new"}


def test_a_watch_loses_an_event_and_goes_on(client: Client, fault_proxy: FaultProxy) -> None:
    watch = client.watch("a")
    lost = fault_proxy.inject(LoseEvents(frozenset({"MODIFIED"})), "watch", resource="configmaps", times=1)
    client.create("a", x="1")
    client.put("a", x="2")
    client.put("a", x="3")
    eventually(lambda: len(watch.events) == 2)
    assert watch.events == [("ADDED", {"x": "1"}), ("MODIFIED", {"x": "3"})]
    assert lost.hits == 1


def test_a_watch_is_told_that_it_is_too_old(client: Client, fault_proxy: FaultProxy) -> None:
    watch = client.watch("a")
    fault_proxy.inject(ExpireWatch(), "watch", times=1)
    client.create("a")
    eventually(lambda: watch.ended)
    assert (watch.ended, watch.events) == ("whole", [("ERROR", 410)])


def test_a_watch_is_cut(client: Client, fault_proxy: FaultProxy) -> None:
    at_an_event, at_once = client.watch("a"), client.watch("b")
    fault_proxy.inject(CutWatch(), "watch", times=1)
    client.create("a")
    eventually(lambda: at_an_event.ended)
    assert fault_proxy.cut_watches() == 1
    eventually(lambda: at_once.ended)
    assert (at_an_event.ended, at_once.ended) == ("cut", "cut")


def test_the_world_stops_after_the_writes_it_was_given(client: Client, fault_proxy: FaultProxy) -> None:
    watch = client.watch("b")
    fault_proxy.stop_world_after(2)
    assert client.create("a").status_code == 201
    assert client.create("b").status_code == 201
    assert fault_proxy.world_stopped
    for request in (lambda: client.create("c"), client.names):
        with pytest.raises(httpx.TransportError):
            request()
    eventually(lambda: watch.ended == "cut")
    fault_proxy.release()
    assert client.names() == {"a", "b"}


def test_a_world_that_hangs_goes_on_when_it_is_released(client: Client, fault_proxy: FaultProxy) -> None:
    fault_proxy.stop_world_after(0, hang=True)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.create, "a")
        eventually(fault_proxy.writes)
        assert not waiting.done()
        fault_proxy.release()
        assert waiting.result(10).status_code == 201


def test_an_api_server_that_restarts_cuts_what_runs(
    client: Client, control_plane: ControlPlane, fault_proxy: FaultProxy
) -> None:
    watch = client.watch("a")
    client.create("a")
    control_plane.restart_apiserver(force=True)
    eventually(lambda: watch.ended)
    assert client.names() == {"a"}
