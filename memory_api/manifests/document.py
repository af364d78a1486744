"""A YAML file as plain data that remembers its lines.

Files come from people and from ConfigMaps, so everything is bounded before it is built: bytes, nesting, and the number
of values once aliases are written out (ten short lines of aliases can stand for billions).

Stricter than kubectl in three corners that no manifest needs: local and binary tags, an anchor name used twice, and
JSON indented with tabs are refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, NoReturn

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from memory_api.errors import ManifestError
from memory_api.manifests.problem import Path
from memory_api.manifests.scalars import plain_value

LARGEST_FILE = 512 * 1024
MOST_VALUES = 20_000
DEEPEST = 50
_TOO_DEEP = f"values are nested more than {DEEPEST} deep"
_TOO_MANY = f"more than {MOST_VALUES} values once aliases are written out"

_PLAIN = "plain"
_STR = "tag:yaml.org,2002:str"
_TYPED: dict[str, tuple[type, ...]] = {
    "tag:yaml.org,2002:null": (type(None),),
    "tag:yaml.org,2002:bool": (bool,),
    "tag:yaml.org,2002:int": (int,),
    "tag:yaml.org,2002:float": (int, float),
}
_MAP, _SEQ = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_COLLECTIONS = {_MAP, _SEQ}
_DEFAULT_TAGS: dict[Any, str] = {ScalarNode: _STR, SequenceNode: _SEQ, MappingNode: _MAP}


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file: its data, and the line of every value in it."""

    source: str
    data: dict[str, Any]
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line of `path`, or of the nearest value around it that is written down."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_documents(path: FilePath) -> list[Document]:
    """Every document of the file that is not empty.

    Raises:
        ManifestError: a file that cannot be read, is no YAML, or holds something other than objects.
    """
    return documents_in(read_bytes(path), str(path))


def read_bytes(path: FilePath) -> bytes:
    """What the file holds; of one that is too large, no more than it takes to see that.

    Raises:
        ManifestError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ManifestError(str(path), [("", f"cannot be read: {error.strerror}")]) from None


def documents_in(raw: bytes, source: str) -> list[Document]:
    """Every document that is not empty; `source` is what messages call the text.

    Raises:
        ManifestError: too large, no YAML, or something other than objects.
    """
    text = _text(raw, source)
    try:
        documents = [_Builder(source).document(root) for root in _compose(text)]
    except yaml.YAMLError as error:
        raise _unreadable(source, error) from None
    except RecursionError:
        raise ManifestError(source, [("", _TOO_DEEP)]) from None
    if not documents:
        raise ManifestError(source, [("", "the file is empty; write one object with apiVersion, kind and metadata")])
    return documents


def _text(raw: bytes, source: str) -> str:
    if len(raw) > LARGEST_FILE:
        raise ManifestError(source, [("", f"the file is larger than {LARGEST_FILE // 1024} KiB")])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ManifestError(source, [("", "the file is not UTF-8")], lines=[line]) from None


class _Loader(yaml.BaseLoader):
    """Composes nodes, so many and so deep; what a plain word means is decided later, by kubectl's rules."""

    depth = 0
    count = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self.depth += 1
        self.count += 1
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=self.get_mark())
        if self.count > MOST_VALUES:
            raise yaml.MarkedYAMLError(problem=_TOO_MANY, problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_scalar_node(self, anchor: Any) -> ScalarNode:
        bare_tag = self.peek_event().tag == "!"  # type: ignore[no-untyped-call]
        node = super().compose_scalar_node(anchor)
        if bare_tag:
            node.tag = _STR
        return node

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0]:
            return _PLAIN
        return _DEFAULT_TAGS[kind]


def _compose(text: str) -> Iterator[Node]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None and not _is_empty(node):
                yield node
    finally:
        loader.dispose()


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag == _PLAIN and node.value == ""


def _unreadable(source: str, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    text = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    return ManifestError(source, [("", f"not readable as YAML: {text}")], lines=[mark.line + 1] if mark else [])


class _Builder:
    """Turns one document's nodes into data, noting lines and counting values."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[Path, int] = {}
        self.left = MOST_VALUES
        self.open: set[int] = set()

    def document(self, root: Node) -> Document:
        if not isinstance(root, MappingNode):
            self.refuse(root, "must be one object with apiVersion, kind and metadata, not a list or a bare value")
        data = self.build(root, (), root)
        return Document(self.source, data, self.lines)

    def refuse(self, node: Node, text: str) -> NoReturn:
        raise ManifestError(self.source, [("", text)], lines=[node.start_mark.line + 1])

    def build(self, node: Node, path: Path, at: Node) -> Any:
        self.lines[path] = at.start_mark.line + 1
        self.left -= 1
        if self.left < 0:
            self.refuse(at, _TOO_MANY)
        if isinstance(node, ScalarNode):
            return self.scalar(node)
        if node.tag not in _COLLECTIONS:
            self.refuse(node, f"the tag {node.tag} has no meaning here")
        if id(node) in self.open:
            self.refuse(at, "an anchor contains itself")
        self.open.add(id(node))
        result: Any
        if isinstance(node, SequenceNode):
            result = [self.build(item, (*path, index), item) for index, item in enumerate(node.value)]
        else:
            result = self.mapping(node, path)
        self.open.discard(id(node))
        return result

    def mapping(self, node: Node, path: Path) -> dict[str, Any]:
        written: dict[str, Any] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if isinstance(key_node, ScalarNode) and key_node.tag == _PLAIN and key_node.value == "<<":
                merged.append(value_node)
                continue
            key = self.key(key_node)
            if key in written:
                self.refuse(key_node, f'key "{key}" already set in map')
            written[key] = self.build(value_node, (*path, key), key_node)
        for value_node in merged:
            for key, value in self.merge(value_node, path, node).items():
                written.setdefault(key, value)
        return written

    def merge(self, node: Node, path: Path, at: Node) -> dict[str, Any]:
        """What `<<` brings: a mapping, or a list of them of which the first wins."""
        parts = node.value if isinstance(node, SequenceNode) else [node]
        result: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, MappingNode):
                self.refuse(at, "map merge requires map or sequence of maps as the value")
            kept = dict(self.lines)
            brought = self.build(part, path, at)
            self.lines.update(kept)
            for key, value in brought.items():
                result.setdefault(key, value)
        return result

    def key(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            self.refuse(node, "a key must be a word, not a list or an object")
        value = self.scalar(node)
        if isinstance(value, str):
            return value
        if value is None:
            self.refuse(node, "a key must be a word, not null")
        return str(value).lower() if isinstance(value, bool) else str(value)

    def scalar(self, node: ScalarNode) -> Any:
        if any("\ud800" <= letter <= "\udfff" for letter in node.value):
            self.refuse(node, "found invalid Unicode character escape code")
        if node.tag == _STR:
            return node.value
        if node.tag != _PLAIN and node.tag not in _TYPED:
            self.refuse(node, f"the tag {node.tag} has no meaning here")
        try:
            value = plain_value(node.value)
        except ValueError as error:
            self.refuse(node, str(error))
        if node.tag != _PLAIN and type(value) not in _TYPED[node.tag]:
            self.refuse(node, f"cannot decode `{node.value}` as {node.tag.replace('tag:yaml.org,2002:', '!!')}")
        return value
