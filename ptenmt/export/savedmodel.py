"""Exports for TensorFlow: a SavedModel that takes text and gives text, tokenizers and search inside."""

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path

from ptenmt.config import Config, DecodingConfig
from ptenmt.errors import ExportError, OutputError
from ptenmt.export.folders import Export, ExportFacts, Form, states
from ptenmt.export.limits import why_not_written
from ptenmt.export.trained import Trained

SAVEDMODEL = Form(
    name="savedmodel",
    facts_file="export.json",
    model_files=frozenset({"saved_model.pb", "fingerprint.pb", "variables"}),
    companions=frozenset({"assets"}),
    facts=ExportFacts,
)
USAGE = """
TensorFlow and TensorFlow Text of one version run it; ptenmt is not needed:

```python
import tensorflow as tf
import tensorflow_text  # noqa: F401: its operations are in the graph
translate = tf.saved_model.load("{folder}").signatures["serving_default"]
print(translate(text=tf.constant(["…"]))["translation"].numpy()[0].decode())
```

TensorFlow Serving wants the folder below one with the model's name, under a number:

```
docker run -p 8501:8501 -v "$PWD/{folder}:/models/translator/1" -e MODEL_NAME=translator tensorflow/serving
curl -d '{{"instances": ["…"]}}' http://localhost:8501/v1/models/translator:predict
```

The signature `attention` gives the pieces of source and translation, too, and the weights of every layer and
head.
"""
_SEARCH = ("coverage_penalty", "repetition_penalty", "no_repeat_ngram", "top_k")


def check_savedmodel(config: Config, warn: Callable[[str], None]) -> None:
    """Refuse what a SavedModel cannot be made of, or here.

    Args:
        config: The run's options.
        warn: Told, in a sentence, of what a SavedModel does worse than ptenmt.

    Raises:
        ExportError: It says why.
    """
    if importlib.util.find_spec("tensorflow_text") is None:
        raise ExportError(
            "TensorFlow Text, whose tokenizers go into a SavedModel, is not installed",
            "pip install 'tensorflow-text~=2.21.0' (Linux and macOS)",
        )
    for name in _SEARCH:
        value, default = getattr(config.decoding, name), getattr(DecodingConfig(), name)
        if value != default:
            raise ExportError(
                f"a SavedModel searches without decoding.{name} ({value})",
                f"export with --set decoding.{name}={default}",
            )
    if reason := why_not_written(config):
        warn(f"{reason}: the SavedModel's translations keep their blanks before punctuation")


def make_savedmodel(trained: Trained) -> Export[ExportFacts]:
    """Compile a translator into a SavedModel.

    Args:
        trained: The model; its section ``decoding`` says how to search.

    Raises:
        OutputError: There is no room for temporary files.
    """
    import tensorflow as tf

    from ptenmt.export.graph.translator import GraphTranslator

    translator = GraphTranslator(trained.model, trained.tokenizers, trained.config)
    signatures = {"serving_default": translator.translate, "attention": translator.explain}
    try:
        with tempfile.TemporaryDirectory(prefix="ptenmt-") as folder:
            tf.saved_model.save(translator, folder, signatures=signatures)
            parts = [file for file in sorted(Path(folder).rglob("*")) if file.is_file()]
            files = {file.relative_to(folder).as_posix(): file.read_bytes() for file in parts}
    except (OSError, tf.errors.OpError) as error:
        raise OutputError(f"cannot write into {tempfile.gettempdir()}: {error}") from error
    return Export(ExportFacts(weights=trained.origin, files=states(files)), files)
