"""Writes happen only where something differs, never to what is somebody else's, and in an order that works."""

from dataclasses import replace
from typing import Any

from memory_operator.api.reasons import Reason
from memory_operator.desired.child import Child
from memory_operator.desired.group import Group
from memory_operator.desired.objects import desired_objects
from memory_operator.reconcile.plan import Plan, plan
from workspaces import UID, a_group, live

Lives = dict[tuple[str, str], dict[str, Any]]


def lives(children: list[Child]) -> Lives:
    return {child.key: live(child) for child in children}


def verbs(found: Plan) -> list[tuple[str, str]]:
    return [(write.verb, write.kind.kind) for write in found.writes]


def planned(group: Group, there: Lives, **more: Any) -> Plan:
    return plan(desired_objects(group), there, uid=UID, **more)


def test_everything_is_written_once_in_an_order_that_works() -> None:
    group = a_group(database={"managed": {}})
    found = verbs(planned(group, {}))
    kinds = [kind for _, kind in found]
    assert found[kinds.index("Secret")][0] == "create"
    for earlier, later in (
        ("ServiceAccount", "Deployment"),
        ("NetworkPolicy", "Deployment"),
        ("ConfigMap", "Deployment"),
        ("Secret", "StatefulSet"),
    ):
        assert kinds.index(earlier) < kinds.index(later)


def test_the_next_pass_writes_nothing() -> None:
    for group in (a_group(), a_group(database={"managed": {}}), a_group(database={"cloudnativepg": {}}, replicas=3)):
        assert planned(group, lives(desired_objects(group))) == Plan(())


def test_any_prefix_of_the_writes_leads_to_the_same_end() -> None:
    children = desired_objects(a_group(database={"managed": {}}, replicas=2))
    for cut in range(len(children) + 1):
        there = lives(children[:cut])
        rest = plan(children, there, uid=UID)
        assert {(write.kind.kind, write.name) for write in rest.writes} == {child.key for child in children[cut:]}
        assert rest.problems == ()


def test_an_edit_is_applied_where_it_acts_and_only_a_new_template_rolls() -> None:
    group = a_group(replicas=2)
    there = lives(desired_objects(group))
    scaled = planned(a_group(replicas=3), there)
    assert [(write.kind.kind, write.rolls) for write in scaled.writes] == [("Deployment", False)]
    rotated = planned(replace(group, secrets="other"), there)
    assert [(write.kind.kind, write.rolls) for write in rotated.writes] == [("Deployment", True)]


def test_what_is_no_longer_asked_for_goes_last_first() -> None:
    before = a_group(replicas=2, autoscaling={"minReplicas": 2, "maxReplicas": 3})
    found = planned(a_group(), lives(desired_objects(before)))
    assert verbs(found) == [
        ("apply", "Deployment"),
        ("delete", "HorizontalPodAutoscaler"),
        ("delete", "PodDisruptionBudget"),
    ]
    assert all(write.uid for write in found.writes if write.verb == "delete")


def test_data_stays_and_what_runs_goes_when_a_service_is_removed() -> None:
    there = lives(desired_objects(a_group(database={"managed": {}})))
    kept = {"Secret", "PersistentVolumeClaim"}
    assert {kind for _, kind in verbs(plan([], there, uid=UID))} == {kind for kind, _ in there} - kept
    there = lives(desired_objects(a_group(database={"managed": {}}, deletionPolicy="Delete")))
    assert {kind for _, kind in verbs(plan([], there, uid=UID))} == {kind for kind, _ in there}


def test_objects_of_a_held_service_are_left_as_they_are() -> None:
    there = lives(desired_objects(a_group()))
    assert plan([], there, uid=UID, held={"default"}) == Plan(())


def test_an_object_of_somebody_else_is_reported_and_never_touched() -> None:
    group = a_group()
    there = lives(desired_objects(group))
    theirs = there[("ConfigMap", group.name)]
    theirs["metadata"] |= {"labels": {}, "ownerReferences": [], "annotations": {}}
    found = planned(group, there)
    assert found.writes == ()
    assert [problem.reason for problem in found.problems] == [Reason.OBJECT_TAKEN]
    assert group.name in found.problems[0].message


def test_a_lost_password_is_not_replaced_under_a_living_database() -> None:
    group = a_group(database={"managed": {}})
    there = lives(desired_objects(group))
    del there[("Secret", group.database_name)]
    found = planned(group, there)
    assert found.writes == ()
    assert [problem.reason for problem in found.problems] == [Reason.PASSWORD_LOST]


def test_a_password_that_is_there_is_never_written_again() -> None:
    group = a_group(database={"managed": {}})
    there = lives(desired_objects(group))
    del there[("Secret", group.database_name)]["type"]
    assert planned(group, there).writes == ()
    retained = planned(a_group(database={"managed": {}}, deletionPolicy="Delete"), there)
    secret = next(write for write in retained.writes if write.kind.kind == "Secret")
    assert (secret.verb, secret.uid) == ("apply", f"uid-of-{group.database_name}")


def test_nothing_of_cloudnativepg_is_written_where_it_is_not_installed() -> None:
    found = planned(a_group(database={"cloudnativepg": {}}), {}, cnpg_installed=False)
    assert not {"Cluster", "Database"} & {kind for _, kind in verbs(found)}


def test_what_is_being_deleted_is_waited_for() -> None:
    group = a_group()
    there = lives(desired_objects(group))
    there[("Service", group.name)]["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "annotations": {}}
    assert planned(group, there).writes == ()


def test_two_workspaces_of_one_name_in_two_namespaces_do_not_see_each_other() -> None:
    other = a_group(uid="another-uid")
    assert plan([], lives(desired_objects(other)), uid=UID) == Plan(())
