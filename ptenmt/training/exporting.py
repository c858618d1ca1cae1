"""Keeping a run's export up to date while it is trained."""

from collections.abc import Callable

from ptenmt.checkpoints import load_weights
from ptenmt.config import Config
from ptenmt.errors import ExportError, PtenmtError
from ptenmt.events import Event, TrainingStarted, Validated
from ptenmt.export.ctranslate2 import make_export, read_export, write_export
from ptenmt.export.limits import why_not_ctranslate2
from ptenmt.export.origin import newest_weights, weights_id
from ptenmt.runs import Run
from ptenmt.tokenizers import TokenizerPair
from ptenmt.writing import remove_unfinished


class Exporter:
    """Exports the weights that ``ptenmt translate`` takes, whenever there are new ones.

    What goes wrong is told; the training goes on, and the next translation makes up for it.

    Args:
        run: What is trained.
        config: Its options.
        tokenizers: Of both languages.
        warn: Told, in a sentence, of what is not as it should be.
    """

    def __init__(
        self, run: Run, config: Config, tokenizers: TokenizerPair, warn: Callable[[str], None]
    ) -> None:
        self._run = run
        self._config = config
        self._tokenizers = tokenizers
        self._warn = warn
        self._folder = run.export_folder()
        self._why_not = why_not_ctranslate2(config.model)

    def add(self, event: Event) -> None:
        """Do what an event of the training calls for."""
        if isinstance(event, TrainingStarted) and not event.is_over:
            remove_unfinished(self._folder.parent)
            if self._why_not:
                self._warn(f"{self._why_not}: the Keras engine will translate, which is slower")
        elif isinstance(event, Validated) and event.is_best:
            self.renew()

    def renew(self) -> None:
        """Export the best weights so far, or the latest if none are the best, unless that is done already."""
        newest = newest_weights(self._run, "best")
        if self._why_not or newest in (None, _exported(self._run)):
            return
        try:
            path, weights = load_weights(self._run, self._warn)
            export = make_export(self._config.model, weights, self._tokenizers, weights_id(path))
            write_export(self._folder, export)
        except PtenmtError as error:
            self._warn(f"no new export: {error.message}")


def _exported(run: Run) -> str | None:
    """Which weights the run's export is made of, if there is one."""
    try:
        return read_export(run.export_folder()).facts.weights
    except ExportError:
        return None
