"""One manifest out of a file, admitted as `kubectl apply` with strict field validation would, or refused."""

from pathlib import Path as FilePath
from typing import Any

from memory_api.errors import ManifestError
from memory_api.manifests.document import Document, documents_in, read_bytes
from memory_api.manifests.metadata import metadata_problems, unknown_metadata
from memory_api.manifests.problem import Path, Problem, dotted
from memory_api.manifests.rules import rule_problems
from memory_api.manifests.schema import GROUP, VERSION, drop_nulls, fill_defaults, schema_of, unknown_fields
from memory_api.manifests.validation import schema_problems

API_VERSION = f"{GROUP}/{VERSION}"
MOST_SHOWN = 20
# What people paste keys into by mistake: the message says what is wrong and leaves the value out.
_NEVER_SHOWN = (("spec", "baseURL"), ("spec", "headers"), ("spec", "credential"))


def admitted(path: FilePath, kind: str) -> dict[str, Any]:
    """The object of `kind` in the file, with defaults filled in.

    Raises:
        ManifestError: every problem, with its line.
    """
    return admitted_in(read_bytes(path), str(path), kind)


def admitted_in(raw: bytes, source: str, kind: str) -> dict[str, Any]:
    """The same for what was read already; `source` is what messages call it.

    Raises:
        ManifestError: every problem, with its line.
    """
    return judged(_the_one(documents_in(raw, source), kind), kind)


def judged(document: Document, kind: str) -> dict[str, Any]:
    """The same for a document that is read already.

    Raises:
        ManifestError: every problem, with its line.
    """
    schema, data = schema_of(kind), document.data
    _refuse(document, _strict_problems(document, kind))
    drop_nulls(data, schema)
    fill_defaults(data, schema)
    data.pop("status", None)
    problems = list(metadata_problems(data.get("metadata")))
    found, blocked = schema_problems(data, schema)
    problems += found
    if not blocked:
        problems += rule_problems(data, schema)
    _refuse(document, problems)
    return data


def _the_one(documents: list[Document], kind: str) -> Document:
    wanted = [document for document in documents if document.data.get("kind") == kind]
    if len(wanted) == 1:
        return wanted[0]
    first = documents[0]
    if wanted:
        lines = ", ".join(str(document.line(("kind",))) for document in wanted)
        raise ManifestError(
            first.source, [("", f"holds {len(wanted)} objects of kind {kind} (lines {lines}); keep one")]
        )
    kinds = [str(document.data["kind"]) for document in documents if document.data.get("kind")]
    if not kinds:
        raise ManifestError(
            first.source, [("", f"Object 'Kind' is missing; write kind: {kind}")], lines=[first.line(())]
        )
    text = f"holds no object of kind {kind}, only {', '.join(sorted(set(kinds)))}"
    raise ManifestError(first.source, [("", text)], lines=[first.line(("kind",))])


def _strict_problems(document: Document, kind: str) -> list[Problem]:
    """What is refused before any validation: another version, and fields that do not exist."""
    version = document.data.get("apiVersion")
    if version != API_VERSION:
        said = f"is {version}" if version else "is missing"
        return [Problem(("apiVersion",), f"{said}; kind {kind} is served as {API_VERSION}")]
    unknown: list[Path] = [("metadata", key) for key in unknown_metadata(document.data.get("metadata"))]
    unknown += unknown_fields(document.data, schema_of(kind))
    return [Problem(path, f'unknown field "{dotted(path)}"', unnamed=True) for path in unknown]


def _refuse(document: Document, problems: list[Problem]) -> None:
    if not problems:
        return
    problems = sorted(problems, key=lambda problem: document.line(problem.path))
    if len(problems) > MOST_SHOWN:
        rest = len(problems) - MOST_SHOWN
        problems = [
            *problems[:MOST_SHOWN],
            Problem(problems[MOST_SHOWN].path, f"and {rest} more problems", unnamed=True),
        ]
    raise ManifestError(
        document.source,
        [("" if problem.unnamed else dotted(problem.path), _said(problem)) for problem in problems],
        lines=[document.line(problem.path) for problem in problems],
    )


def _said(problem: Problem) -> str:
    return problem.said(show_value=problem.path[:2] not in _NEVER_SHOWN)
