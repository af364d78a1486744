"""memory-api comes to the API server's verdict on every manifest of the table."""

from pathlib import Path

import pytest

from manifest_table import Row, holds_part, rows
from memory_api.errors import ManifestError
from memory_api.manifests.verdict import admitted

ROWS = rows()
GOOD = [row for row in ROWS if row.says is None]
BAD = [row for row in ROWS if row.says is not None]


@pytest.mark.parametrize("row", GOOD, ids=lambda row: row.name)
def test_a_good_manifest_is_admitted(row: Row, tmp_path: Path) -> None:
    file = tmp_path / "manifest.yaml"
    file.write_text(row.text, encoding="utf-8")
    assert holds_part(admitted(file, row.kind), row.stored)


@pytest.mark.parametrize("row", BAD, ids=lambda row: row.name)
def test_a_bad_manifest_is_refused_in_the_words_of_the_api_server(row: Row, tmp_path: Path) -> None:
    file = tmp_path / "manifest.yaml"
    file.write_text(row.text, encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        admitted(file, row.kind)
    assert row.says is not None
    assert row.says in str(caught.value)
    assert str(caught.value).startswith(f"{file}:")


def test_the_table_is_large_and_its_names_are_unique() -> None:
    assert len(GOOD) >= 30
    assert len(BAD) >= 60
    assert len({row.name for row in ROWS}) == len(ROWS)
