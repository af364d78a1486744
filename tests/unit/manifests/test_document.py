"""Files that are no single readable manifest: one clear error each, with the line where there is one."""

import time
from pathlib import Path

import pytest

from manifest_table import manifest
from memory_api.errors import ManifestError
from memory_api.manifests import load_policy
from memory_api.manifests.document import LARGEST_FILE

POLICY = manifest("MemoryPolicy", "{}")
PROVIDER = manifest("Provider", "{type: mock}")
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)

UNREADABLE = {
    "empty": (b"", "the file is empty"),
    "only comments": (b"# nothing\n---\n", "the file is empty"),
    "a list": (b"- apiVersion: keepsake.dev/v1alpha1\n", ":1: must be one object"),
    "a word": (b"hello\n", ":1: must be one object"),
    "not UTF-8": (b"kind: MemoryPolicy\nname: \xff\n", ":2: the file is not UTF-8"),
    "UTF-16": ("kind: MemoryPolicy\n".encode("utf-16"), "the file is not UTF-8"),
    "control characters": (b"kind: Memory\x00Policy\n", "not readable as YAML: special characters are not allowed"),
    "half a surrogate": (b'kind: "\\ud83d"\n', ":1: found invalid Unicode character escape code"),
    "a tab": (b"kind: MemoryPolicy\nspec:\n\ta: 1\n", ":3: not readable as YAML: found character '\\t'"),
    "an open brace": (b"kind: MemoryPolicy\nspec: {\n", "not readable as YAML"),
    "too large": (b"#" * (LARGEST_FILE + 1), "the file is larger than 512 KiB"),
    "an alias without an anchor": (b"kind: *gone\n", ":1: not readable as YAML: found undefined alias"),
    "aliases that stand for billions": (BOMB.encode(), "more than 20000 values once aliases are written out"),
    "more values than any manifest": (b"- a\n" * 100_000, ":20001: not readable as YAML: more than 20000 values"),
    "an anchor in itself": (b"kind: MemoryPolicy\nspec: &s\n  tiers: *s\n", ":3: an anchor contains itself"),
    "nested too deeply": (b"[" * 5000 + b"]" * 5000, ":1: not readable as YAML: values are nested more than 50 deep"),
    "mappings nested too deeply": (b"{a: " * 5000, ":1: not readable as YAML: values are nested more than 50 deep"),
    "a foreign tag": (b"kind: !!python/object/apply:os.system [x]\n", ":1: the tag tag:yaml.org,2002:python/object"),
    "infinity": (b"kind: MemoryPolicy\nspec: {recall: {rrfK: .inf}}\n", ":2: .inf is not a number that JSON can carry"),
    "a list as a key": (b"[a]: b\n", ":1: a key must be a word"),
    "no kind": (b"apiVersion: keepsake.dev/v1alpha1\n", ":1: Object 'Kind' is missing; write kind: MemoryPolicy"),
    "only another kind": (PROVIDER.encode(), ":2: holds no object of kind MemoryPolicy, only Provider"),
    "two policies": (f"{POLICY}---\n{POLICY}".encode(), "holds 2 objects of kind MemoryPolicy (lines 2, 8); keep one"),
    "another version": (POLICY.replace("v1alpha1", "v1").encode(), ":1: apiVersion: is keepsake.dev/v1; kind"),
    "no version": (b"kind: MemoryPolicy\nmetadata: {name: a}\n", ":1: apiVersion: is missing; kind MemoryPolicy"),
    "no metadata": (b"apiVersion: keepsake.dev/v1alpha1\nkind: MemoryPolicy\n", "metadata.name: Required value"),
    "a broken document beside it": (f"{POLICY}---\n- x\n".encode(), ":7: must be one object"),
}


@pytest.mark.parametrize(("content", "says"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_it_is_refused_in_one_line_and_at_once(content: bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(content)
    start = time.monotonic()
    with pytest.raises(ManifestError) as caught:
        load_policy(file)
    assert time.monotonic() - start < 5
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(file))


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none\.yaml: cannot be read: No such file or directory"):
        load_policy(tmp_path / "none.yaml")
    with pytest.raises(ManifestError, match="cannot be read: Is a directory"):
        load_policy(tmp_path)


def test_one_policy_among_other_documents_is_found(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"---\n{PROVIDER}---\n---\n{manifest('MemoryPolicy', '{}', 'mine')}...\n", encoding="utf-8-sig")
    assert load_policy(file).name == "mine"


def test_every_problem_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    spec = """
  recall:
    rrfK: 0
    fusion: best
    weights: {lexical: '0', vector: '0'}
    halfLife:
      user: 2w"""
    file.write_text(manifest("MemoryPolicy", spec), encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        load_policy(file)
    told = dict(zip(caught.value.lines, (path for path, _ in caught.value.problems), strict=True))
    assert told == {
        7: "spec.recall.rrfK",
        8: "spec.recall.fusion",
        9: "spec.recall.weights",
        11: "spec.recall.halfLife.user",
    }
    assert f"{file}:7: spec.recall.rrfK: Invalid value: 0: spec.recall.rrfK in body should be" in str(caught.value)


def test_a_flood_of_problems_is_cut_short(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    fields = "".join(f"\n  field{number}: 1" for number in range(1000))
    file.write_text(manifest("MemoryPolicy", fields), encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        load_policy(file)
    assert len(caught.value.problems) == 21
    assert str(caught.value).endswith(f"{file}:26: and 980 more problems")


def test_what_may_be_a_secret_is_never_repeated(tmp_path: Path) -> None:
    from memory_api.manifests import load_provider, secret_value

    file = tmp_path / "provider.yaml"
    spec = (
        "{type: openai, model: x, baseURL: 'https://me:hunter2@host/v1', headers: {X-A: \"hunter2\\n\"}, "
        "credential: {secretRef: {name: 'Hunter2!', key: 'hunter2!'}}}"
    )
    file.write_text(manifest("Provider", spec), encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        load_provider(file, secret_value)
    assert len(caught.value.problems) == 4
    assert "hunter2" not in str(caught.value).lower()
