"""COMET, a learned metric, where unbabel-comet is installed; it is no dependency: gigabytes, and a GPU."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.evaluation.test_sets import TestSet
from ptenmt.scores import Score, mean_score

_BATCH_SIZE = 16


class Comet:
    """A loaded COMET model, to score translations of one test set."""

    def __init__(self, model: str, test_set: TestSet) -> None:
        """Load a model: a checkpoint, or a name such as Unbabel/wmt22-comet-da, which is downloaded once.

        Raises ConfigError if the sources are unknown, PtenmtError if unbabel-comet is not installed, or has
        no such model.
        """
        if test_set.sources is None:
            raise ConfigError("COMET needs the sources, but only references are given", "add --source FILE")
        try:
            import comet
        except ImportError as error:
            raise PtenmtError(
                f"COMET needs unbabel-comet, which cannot be imported: {error}", "pip install unbabel-comet"
            ) from error
        try:
            path = model if Path(model).is_file() else comet.download_model(model)
            self._model = comet.load_from_checkpoint(path)
        except Exception as error:  # whatever its libraries raise
            reason = str(error).strip("'\"").partition("\n")[0]
            raise PtenmtError(f"cannot load the COMET model {model}: {reason}") from error
        try:
            installed = version("unbabel-comet")
        except PackageNotFoundError:
            installed = "unknown"
        self._signature = {"model": model, "version": installed}
        references = [test_set.references_of(row)[0] for row in range(len(test_set))]
        self._pairs = list(zip(test_set.sources, references, strict=True))

    def score(self, texts: Sequence[str]) -> Score:
        """100 times the mean of the sentences, with the first reference of each."""
        import torch  # of unbabel-comet

        samples = [
            {"src": source, "mt": text, "ref": reference}
            for (source, reference), text in zip(self._pairs, texts, strict=True)
        ]
        gpus = 1 if torch.cuda.is_available() else 0
        found: Any = self._model.predict(samples, batch_size=_BATCH_SIZE, gpus=gpus, progress_bar=False)
        return mean_score("COMET", self._signature, [100 * float(score) for score in found.scores])
