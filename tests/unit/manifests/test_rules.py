"""CEL rules are tried where the API server tries them."""

from typing import Any

from memory_api.manifests.problem import Problem
from memory_api.manifests.rules import FUNCTIONS, rule_problems
from memory_api.manifests.schema import schema_of, shipped


def schema(rule: str, **extra: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"part": {"x-kubernetes-validations": [{"rule": rule, "message": "no", **extra}]}},
    }


def test_a_rule_on_a_part_that_is_absent_is_passed_over() -> None:
    assert list(rule_problems({}, schema("self.missing > 1"))) == []


def test_a_rule_that_reads_the_object_of_before_is_passed_over() -> None:
    assert list(rule_problems({"part": {"a": 1}}, schema("self.a == oldSelf.a"))) == []
    assert list(rule_problems({"part": {"a": 1}}, schema("self.a == 2"))) != []


def test_a_rule_that_fails_to_run_is_a_refusal() -> None:
    (problem,) = rule_problems({"part": {"a": 1}}, schema("self.b > 1"))
    assert problem.path == ("part",)
    assert problem.text.endswith("evaluating rule: no")


def test_a_rule_can_point_at_the_field_and_give_the_reason() -> None:
    found = rule_problems({"part": {"a": 1}}, schema("has(self.b)", fieldPath=".b", reason="FieldValueRequired"))
    assert list(found) == [Problem(("part", "b"), "Required value: no")]


def test_every_rule_of_the_crds_runs_on_an_empty_section_and_uses_known_functions() -> None:
    """The API server tries the rules of a section on its default `{}`, and refuses the CRD when one fails."""
    for kind in ("MemoryPolicy", "Provider", "Workspace"):
        for section in sections(schema_of(kind)):
            if section.get("default") == {}:
                own = {"x-kubernetes-validations": section.get("x-kubernetes-validations", [])}
                assert list(rule_problems({}, own)) == []
    assert set(FUNCTIONS) == {"find", "replace", "quantity", "compareTo"}


def sections(node: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [
        *node.get("properties", {}).values(),
        *(node[key] for key in ("items", "additionalProperties") if key in node),
    ]
    return [node, *(below for part in parts for below in sections(part))]


def test_the_crds_are_found_in_a_checkout() -> None:
    assert shipped("providers.yaml").name == "providers.yaml"
    assert shipped("providers.yaml").is_file()
