"""No two services share the name of an object, whatever their names."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from memory_operator.desired import names

LABEL = st.from_regex(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)
SHORT = st.from_regex(r"[a-z]([-a-z0-9]{0,6}[a-z0-9])?", fullmatch=True)
SERVICE = st.from_regex(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True)
UID = "0f4f9d0e-3a52-4ee0-9d3f-0d7a0f7b2c11"


def test_an_ordinary_name_reads_as_it_is_written() -> None:
    assert names.memory_api("research", "default") == "research-default-memory"
    assert re.fullmatch(r"research-default-[0-9a-f]{8}-db", names.database("research", "default", UID))


@given(LABEL, SERVICE)
@example("a" * 63, "b" * 40)
def test_names_are_labels_that_fit_stateful_sets_and_cron_jobs(workspace: str, service: str) -> None:
    database = names.database(workspace, service, UID)
    for name in (names.memory_api(workspace, service), database, names.backup(database)):
        assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
        assert len(name) <= 52


@given(st.tuples(SHORT, SHORT), st.tuples(SHORT, SHORT))
@example(("a-b", "c"), ("a", "b-c"))
@example(("a", "b--c"), ("a--b", "c"))
@example(("a--b", "c"), ("a", "b"))
def test_two_services_of_a_namespace_never_meet(one: tuple[str, str], other: tuple[str, str]) -> None:
    if one != other:
        assert names.memory_api(*one) != names.memory_api(*other)


@given(LABEL, SERVICE)
def test_equal_prefixes_of_63_letters_do_not_meet(workspace: str, service: str) -> None:
    long = (workspace + "x" * 63)[:62]
    assert names.memory_api(long + "a", service) != names.memory_api(long + "b", service)


def test_a_namesake_made_later_has_another_database() -> None:
    assert names.database("a", "b", UID) != names.database("a", "b", UID.replace("0", "1"))


def test_a_name_that_looks_like_a_digest_meets_none() -> None:
    hashed = names.base("a-b", "c-d")
    prefix, digest = hashed.split("--")
    assert names.base(prefix, digest) != hashed
