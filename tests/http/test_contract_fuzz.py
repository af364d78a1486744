"""Every operation of the OpenAPI document, called with what its schema allows and forbids: never a 500, and each answer
is one that the document describes. 2,000 examples in all, over HTTP to `keepsake serve`."""

import itertools
import os
import re
from collections.abc import Iterator

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance, unsupported_method

from memory_api.app import api_app
from memory_api.embedded import EmbeddedPostgres
from memory_api.services.standing import Standing
from memory_api.telemetry import Metrics
from serving_process import Served, served

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
DOCUMENT = api_app(Standing(), Metrics()).openapi()
OPERATIONS = sum(len(methods) for methods in DOCUMENT["paths"].values())
EXAMPLES = (20_000 if os.environ.get("FULL") else 2_000) // OPERATIONS + 1
schema = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig.from_dict({"generation": {"mode": "all"}}))
# These three ask whether a schema says all that the service demands; rules such as "not blank" or "a subject is
# required" are prose in a schema. What is refused, and by which name, is tested route by route beside this file.
NOT_CHECKED = [negative_data_rejection, positive_data_acceptance, unsupported_method]
PROVIDER = """
apiVersion: keepsake.dev/v1alpha1
kind: Provider
metadata: {name: mock}
spec: {role: embedding, type: mock, model: mock}
"""


@pytest.fixture(scope="module")
def memory_api(
    postgres_cluster: EmbeddedPostgres, database_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    provider = tmp_path_factory.mktemp("fuzz") / "provider.yaml"
    provider.write_text(PROVIDER)
    postgres_cluster.query(f'create database "fuzz" template "{database_template}"')
    with served(postgres_cluster.url("fuzz"), {"KEEPSAKE_PROVIDER_FILE": str(provider)}) as place:
        yield place
    postgres_cluster.query('drop database "fuzz" with (force)')


@pytest.fixture(scope="module")
def known(memory_api: Served) -> list[str]:
    """Memories of the user `ada`, so that ids are not always of nothing."""
    with httpx.Client(base_url=f"{memory_api.api}/api/v1/", trust_env=False) as http:
        saves = [{"content": f"note {number}", "user_id": "ada"} for number in range(200)]
        results = http.post("memories/batch", json={"memories": saves}).json()["results"]
        ids = [item["memory"]["id"] for item in results]
        for source, target in itertools.pairwise(ids):
            edge = {"user_id": "ada", "source_id": source, "target_id": target, "relation_type": "next"}
            http.post("relations", json=edge).raise_for_status()
    return ids


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not os.environ.get("FULL"),
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_document_describes(case: Case, memory_api: Served, known: list[str]) -> None:
    _aim_at_what_exists(case, known)
    case.call_and_validate(base_url=memory_api.api, excluded_checks=NOT_CHECKED)


def _aim_at_what_exists(case: Case, known: list[str]) -> None:
    """Half of the ids become those of stored memories, with the subject that may see them."""
    id_ = str(case.path_parameters.get("id", ""))
    # Not every text of 36 characters is an id.
    if _ID.fullmatch(id_) and int(id_[0], 16) % 2:
        case.path_parameters["id"] = known[int(id_[1:4], 16) % len(known)]
        if isinstance(case.body, dict) and case.body:
            case.body = {**case.body, "user_id": "ada"}
        elif case.method != "PATCH":
            case.query = {**case.query, "user_id": "ada"}
