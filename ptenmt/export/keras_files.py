"""The export format ``weights``: safetensors, config, tokenizers, and Keras' own files."""

import importlib.util
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.config.loading import dump_config, without_paths
from ptenmt.errors import OutputError
from ptenmt.trained_model import TrainedModel
from ptenmt.weights import serialized

if TYPE_CHECKING:
    import numpy as np

USAGE = """
`model.safetensors` holds every weight in float32 under the name of its Keras variable:

```python
from safetensors.numpy import load_file
weights = load_file("model.safetensors")
```

`model.keras` and `model.weights.h5` are the same weights for Keras, with the package ptenmt installed:

```python
import keras
from ptenmt.model import Transformer  # noqa: F401: registers the layers with Keras
model = keras.saving.load_model("model.keras")
logits = model((source_ids, target_ids))  # [B, S] and [B, T] -> [B, T, V]
```

`tokenizer/` turns text into ids and back. Ids 0 to 3 are [PAD], [UNK], [START] and [END]; the source has
[START] and [END] around it, the decoder input starts with [START].
"""

_MEANINGS = {
    "embedding/tokens/embeddings": "a row per token, multiplied by √D, plus sinusoidal positions",
    "self_attention/query": "self-attention: queries of all heads, concatenated",
    "self_attention/key": "self-attention: keys",
    "self_attention/value": "self-attention: values",
    "self_attention/output": "self-attention: concatenated heads to D",
    "cross_attention/query": "cross-attention: queries",
    "cross_attention/key": "cross-attention: keys",
    "cross_attention/value": "cross-attention: values",
    "cross_attention/output": "cross-attention: concatenated heads to D",
    "feed_forward/expand": "feed-forward: D to its inner width",
    "feed_forward/gate": "feed-forward: gate, with the activation",
    "feed_forward/contract": "feed-forward: back to D",
    "self_attention_norm": "layer norm of self-attention",
    "cross_attention_norm": "layer norm of cross-attention",
    "feed_forward_norm": "layer norm of the feed-forward sub-layer",
    "/norm/": "layer norm at the end of the stack",
    "final": "hidden states to logits",
}


def weights_files(trained: TrainedModel) -> dict[str, bytes]:
    """The files of the format ``weights``: safetensors, config, tokenizers; Keras' if it can be imported.

    Args:
        trained: The model.

    Raises:
        OutputError: There is no room for temporary files.
    """
    arrays = trained.weights
    files = {
        "model.safetensors": serialized(trained.info, arrays),
        "config.yaml": dump_config(without_paths(trained.config)).encode(),
    }
    try:
        own = trained.run.tokenizer_folder
        parts = [file for file in sorted(own.rglob("*")) if file.is_file()]
        files |= {f"tokenizer/{file.relative_to(own).as_posix()}": file.read_bytes() for file in parts}
        if importlib.util.find_spec("tensorflow") is not None:
            with tempfile.TemporaryDirectory(prefix="ptenmt-") as folder:
                for name in ("model.keras", "model.weights.h5"):
                    _save(trained, Path(folder) / name)
                files |= {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    except OSError as error:
        raise OutputError(f"cannot write into {tempfile.gettempdir()}: {error.strerror or error}") from error
    return files


def _save(trained: TrainedModel, file: Path) -> None:
    with warnings.catch_warnings():  # Keras uses a deprecated function of NumPy
        warnings.simplefilter("ignore", DeprecationWarning)
        if file.suffix == ".keras":
            trained.keras_model.save(file)
        else:
            trained.keras_model.save_weights(file)


def name_table(weights: Mapping[str, "np.ndarray"]) -> str:
    """A Markdown table of the arrays; those of all layers share a row."""
    rows: dict[str, str] = {}
    for path, array in weights.items():
        name = "/".join("block{i}" if part.startswith("block") else part for part in path.split("/"))
        shape = " × ".join(map(str, array.shape))
        rows[name] = f"| `{name}` | {shape} | {_meaning(path)} |"
    head = [
        "## Names",
        "",
        "A `kernel` is [inputs, outputs], as in Keras; PyTorch's `Linear` has the transpose. `{i}`",
        "counts the layers from 1.",
        "",
        "| name | shape | what it is |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows.values()])


def _meaning(path: str) -> str:
    return next((meaning for part, meaning in _MEANINGS.items() if part in path), "")
