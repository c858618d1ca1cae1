"""Scoring a run, or finished hypotheses, against references."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from ptenmt.data.corpus import HeldOutSplit
from ptenmt.errors import ConfigError
from ptenmt.evaluation.judging import Question, judged
from ptenmt.evaluation.material import Files
from ptenmt.evaluation.results import Evaluation
from ptenmt.evaluation.sweep import BEAM_SIZES, LENGTH_PENALTIES, Sweep, sweep_settings
from ptenmt.evaluation.systems import Loading, Progress
from ptenmt.runs import Choice, Run
from ptenmt.translation.loading import EngineName


def evaluate(
    run: str | Path | Run | None = None,
    split: HeldOutSplit = "test",
    *,
    source: str | Path | None = None,
    references: Sequence[str | Path] = (),
    hypotheses: str | Path | None = None,
    tokenised: bool = False,
    baseline: str | Path | None = None,
    checkpoint: Choice = "best",
    engine: EngineName = "auto",
    overrides: Sequence[str] = (),
    on_progress: Progress = lambda _what, _done, _total: None,
    on_warning: Callable[[str], None] = warnings.warn,
    on_tensorflow: Callable[[], None] = lambda: None,
) -> Evaluation:
    """Score a trained run, or finished hypotheses.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last; for none at
            all, where ``hypotheses`` and ``references`` are given.
        split: Which pairs of the run's own data, if no references are given.
        source: A file of sentences to translate instead, one a line.
        references: Files of their right translations; each sentence needs one at least.
        hypotheses: A file of translations to score; nothing is translated then.
        tokenised: The files have words and punctuation apart, as the training corpus has; if not, they are
            text as people write it.
        baseline: A run, or a file of translations, to compare with.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        engine: What translates, as for ``Translator.load``; loss and accuracy are the Keras model's always.
        overrides: ``decoding.option=value`` each: how to search, where not as the run's config says.
            Checkpoint, engine and overrides are the baseline's, too.
        on_progress: Told how far it is.
        on_warning: Told of a damaged checkpoint that was passed over for an older one, and the like.
        on_tensorflow: Called before TensorFlow is imported.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no checkpoint that can be read.
        DataError: Its data, or a file, cannot be read, or they do not fit together.
        ExportError: The engine cannot express the model.
        ConfigError: What is asked for does not go together.
    """
    files = _files(source, references, hypotheses, tokenised=tokenised)
    if hypotheses is not None and (baseline is None or Path(baseline).is_file()):
        _refuse_to_search(checkpoint, engine, overrides)
    loading = Loading(
        checkpoint=checkpoint,
        engine=engine,
        overrides=overrides,
        on_warning=on_warning,
        on_tensorflow=on_tensorflow,
    )
    question = Question.of(run, split, files, loading)
    return judged(question, None if baseline is None else str(baseline), on_progress)


def sweep(
    run: str | Path | Run | None = None,
    split: HeldOutSplit = "validation",
    *,
    source: str | Path | None = None,
    references: Sequence[str | Path] = (),
    tokenised: bool = False,
    checkpoint: Choice = "best",
    engine: EngineName = "auto",
    beam_sizes: Sequence[int] = BEAM_SIZES,
    length_penalties: Sequence[float] = LENGTH_PENALTIES,
    on_progress: Progress = lambda _what, _done, _total: None,
    on_warning: Callable[[str], None] = warnings.warn,
    on_tensorflow: Callable[[], None] = lambda: None,
) -> Sweep:
    """Find out which beam size and length penalty a run translates best with; see ``evaluate``.

    Args:
        run: As for ``evaluate``.
        split: As for ``evaluate``; what is chosen on the test pairs says nothing about them any more.
        source: As for ``evaluate``.
        references: As for ``evaluate``.
        tokenised: As for ``evaluate``.
        checkpoint: As for ``evaluate``.
        engine: As for ``evaluate``.
        beam_sizes: Those to try; 1 is greedy search.
        length_penalties: Those to try with each of them but 1.
        on_progress: As for ``evaluate``.
        on_warning: As for ``evaluate``.
        on_tensorflow: As for ``evaluate``.

    Raises:
        PtenmtError: As ``evaluate``; also if a beam size or a penalty is none.
    """
    files = _files(source, references, None, tokenised=tokenised)
    loading = Loading(
        checkpoint=checkpoint,
        engine=engine,
        overrides=(),
        on_warning=on_warning,
        on_tensorflow=on_tensorflow,
    )
    question = Question.of(run, split, files, loading)
    assert question.run is not None
    return sweep_settings(
        question.system(question.run).translator,
        question.material,
        question.run.name,
        question.pairs_name,
        on_progress,
        beam_sizes=beam_sizes,
        length_penalties=length_penalties,
    )


def _refuse_to_search(checkpoint: Choice, engine: EngineName, overrides: Sequence[str]) -> None:
    """Refuse what would have no effect where no run translates."""
    given = {
        "--checkpoint": checkpoint != "best",
        "--engine": engine != "auto",
        "options of decoding": bool(overrides),
    }
    names = " or ".join(name for name, is_given in given.items() if is_given)
    if names:
        raise ConfigError(
            "finished translations are scored as they are: nothing is translated, and there is no use for "
            f"{names}"
        )


def _files(
    source: str | Path | None,
    references: Sequence[str | Path],
    hypotheses: str | Path | None,
    *,
    tokenised: bool,
) -> Files:
    return Files(
        source=None if source is None else Path(source),
        references=tuple(map(Path, references)),
        hypotheses=None if hypotheses is None else Path(hypotheses),
        tokenised=tokenised,
    )
