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
    "embedding/tokens": "a row per token, multiplied by √D, plus sinusoidal positions",
    "attention/query": "queries of all heads, concatenated",
    "attention/key": "keys of all heads",
    "attention/value": "values of all heads",
    "attention/output": "concatenated heads to D",
    "feed_forward/expand": "D to its inner width",
    "feed_forward/gate": "gate, with the activation",
    "feed_forward/contract": "back to D",
    "attention_norm": "layer norm of the attention",
    "feed_forward_norm": "layer norm of the feed-forward layer",
    "/norm/": "layer norm at the end of the stack",
    "final": "hidden states to logits",
}
"""By a part of an array's name; the first that fits applies."""


def weights_files(trained: TrainedModel) -> dict[str, bytes]:
    """The files of the format ``weights``: safetensors, config, tokenizers; Keras' if it is installed.

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
            with tempfile.TemporaryDirectory(prefix="ptenmt-") as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # Keras uses a deprecated NumPy function
                trained.keras_model.save(Path(folder, "model.keras"))
                trained.keras_model.save_weights(Path(folder, "model.weights.h5"))
                files |= {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    except OSError as error:
        raise OutputError(f"cannot write into {tempfile.gettempdir()}: {error.strerror or error}") from error
    return files


def name_table(weights: Mapping[str, "np.ndarray"]) -> str:
    """A Markdown table of the arrays; those of all layers share a row."""
    rows: dict[str, str] = {}
    for path, array in weights.items():
        name = "/".join("block{i}" if part.startswith("block") else part for part in path.split("/"))
        shape = " × ".join(map(str, array.shape))
        meaning = next((text for part, text in _MEANINGS.items() if part in path), "")
        rows[name] = f"| `{name}` | {shape} | {meaning} |"
    head = [
        "## Names",
        "",
        "A `kernel` is [inputs, outputs], as in Keras; PyTorch's `Linear` has the transpose. `{i}`",
        "counts the layers from 1.",
        "",
        "| name | shape | meaning |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows.values()])
