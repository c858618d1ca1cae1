"""COMET, a learned metric, where unbabel-comet is installed; it is no dependency: gigabytes, and a GPU."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.evaluation.test_set import Hypotheses, TestSet
from ptenmt.scores import Difference, Score, mean_scores

_BATCH_SIZE = 16


class Comet:
    """A loaded COMET model."""

    def __init__(self, model: str) -> None:
        """Load a model: a checkpoint, or a name such as Unbabel/wmt22-comet-da, which is downloaded once.

        Raises PtenmtError if unbabel-comet is not installed, or has no such model.
        """
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
        self._name = model

    def scores(
        self, test_set: TestSet, output: Hypotheses, baseline: Hypotheses | None
    ) -> tuple[Score, Difference | None]:
        """100 times the mean of the sentences, with the first reference of each; and beside a baseline."""
        outputs = [output] if baseline is None else [baseline, output]
        values = [self._of_sentences(test_set, hypotheses.texts) for hypotheses in outputs]
        (*others, score), p_value = mean_scores("COMET", self._signature(), values)
        if not others:
            return score, None
        return score, Difference(score=score, baseline=others[0], p_value=p_value)

    def _of_sentences(self, test_set: TestSet, texts: Sequence[str]) -> list[float]:
        import torch  # of unbabel-comet

        rows = zip(sources_of(test_set), texts, strict=True)
        samples = [
            {"src": source, "mt": text, "ref": test_set.references_of(row)[0]}
            for row, (source, text) in enumerate(rows)
        ]
        gpus = 1 if torch.cuda.is_available() else 0
        found: Any = self._model.predict(samples, batch_size=_BATCH_SIZE, gpus=gpus, progress_bar=False)
        return [100 * float(score) for score in found.scores]

    def _signature(self) -> dict[str, str]:
        try:
            return {"model": self._name, "version": version("unbabel-comet")}
        except PackageNotFoundError:
            return {"model": self._name, "version": "unknown"}


def sources_of(test_set: TestSet) -> Sequence[str]:
    """The sources that COMET reads; raises ConfigError without."""
    if test_set.sources is None:
        raise ConfigError("COMET needs the sources, but only references are given", "add --source FILE")
    return test_set.sources
