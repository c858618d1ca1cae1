"""A training's curves, scores and sample translations as TensorBoard reads them."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ptenmt.errors import OutputError
from ptenmt.runs import Run
from ptenmt.training.events import CheckpointSaved, CurvePoint, Event, StepDone, TrainingStarted, Validated

FOLDER = "tensorboard"
_SCORES = "validation/"


class TensorBoard:
    """Writes the events of a training into event files, one per process, below the run's ``tensorboard/``.

    A training that resumes after a kill writes the same points again. The package tensorboard is not needed
    to write, only to look at them.
    """

    def __init__(self, run: Run) -> None:
        self._folder = run.path / FOLDER
        self._writer: Any = None
        self._tokens_per_second = 0.0

    def add(self, event: Event) -> None:
        """Write one event; those without a curve are ignored. Raises OutputError."""
        try:
            match event:
                case TrainingStarted(is_over=False):
                    self._writer = tf.summary.create_file_writer(str(self._folder))
                case StepDone():
                    self._tokens_per_second = event.tokens_per_second
                case CurvePoint():
                    names = ("loss", "accuracy", "learning_rate", "gradient_norm")
                    values = {name: getattr(event, name) for name in names}
                    values["tokens_per_second"] = self._tokens_per_second
                    self._write(event, "training/", values)
                case Validated(scores=scores):
                    self._write(event, _SCORES, scores.figures())
                    texts = (
                        (sample.source, sample.reference, sample.translation) for sample in scores.samples
                    )
                    lines = {
                        f"sample_{number}": "  \n".join(sample) for number, sample in enumerate(texts, 1)
                    }
                    self._write(event, _SCORES, lines)  # two spaces: a new line
                    self._writer.flush()
                case CheckpointSaved():
                    self._writer.flush()
        except (tf.errors.OpError, OSError) as error:
            raise OutputError(f"cannot write {self._folder}: {str(error).splitlines()[0]}") from error

    def _write(self, event: CurvePoint | Validated, prefix: str, values: Mapping[str, float | str]) -> None:
        """What ``tf.summary.scalar`` and ``text`` write, which need the package tensorboard."""
        with self._writer.as_default(event.global_step):
            for name, value in values.items():
                is_text = isinstance(value, str)
                metadata = tf.compat.v1.SummaryMetadata(data_class=2 if is_text else 1)
                metadata.plugin_data.plugin_name = "text" if is_text else "scalars"
                tensor = tf.constant(value, tf.string if is_text else tf.float32)
                tf.summary.write(f"{prefix}{name}", tensor, metadata=metadata)
