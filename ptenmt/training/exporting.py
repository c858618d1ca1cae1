"""Keeping a run's exports up to date while it is trained."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ptenmt.atomic_files import remove_unfinished
from ptenmt.checkpoints import load_weights
from ptenmt.config import Config
from ptenmt.errors import ExportError, PtenmtError
from ptenmt.events import Event, TrainingStarted, Validated
from ptenmt.export.ctranslate2 import CTRANSLATE2, make_export
from ptenmt.export.folders import Export, Form
from ptenmt.export.limits import why_not_ctranslate2
from ptenmt.export.origin import newest_weights, weights_id
from ptenmt.export.weights import WEIGHTS, make_weights
from ptenmt.runs import Run
from ptenmt.tokenizers import TokenizerPair

if TYPE_CHECKING:
    from ptenmt.export.specification import Weights


class Exporter:
    """Exports the best weights whenever there are new ones: to translate with, and to look into.

    What goes wrong is told; the training goes on, and whoever needs the export makes up for it.

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
        self._warn = warn
        self._is_translator = config.task == "translation"
        self._why_not = why_not_ctranslate2(config.model)
        self._makers: dict[Form[Any], Callable[[Weights, str], Export[Any]]] = {}
        if self._is_translator and not self._why_not:
            self._makers[CTRANSLATE2] = lambda weights, origin: make_export(
                config.model, weights, tokenizers, origin
            )
        self._makers[WEIGHTS] = partial(make_weights, config.model)

    def add(self, event: Event) -> None:
        """Do what an event of the training calls for."""
        if isinstance(event, TrainingStarted) and not event.is_over:
            remove_unfinished(self._run.export_folder().parent)
            if self._is_translator and self._why_not:
                self._warn(f"{self._why_not}: the Keras engine will translate, which is slower")
        elif isinstance(event, Validated) and event.is_best:
            self.renew()

    def renew(self) -> None:
        """Export the best weights so far, or the latest if none are the best, unless that is done already."""
        newest = newest_weights(self._run, "best")
        outdated = [form for form in self._makers if newest not in (None, _exported(self._run, form))]
        if not outdated:
            return
        try:
            path, weights = load_weights(self._run, self._warn)
            for form in outdated:
                export = self._makers[form](weights, weights_id(path))
                form.write(self._run.export_folder("best", form.name), export)
        except PtenmtError as error:
            self._warn(f"no new export: {error.message}")


def _exported(run: Run, form: Form[Any]) -> str | None:
    """Which weights the run's export of a form is made of, if there is one."""
    try:
        return form.read(run.export_folder("best", form.name)).facts.weights
    except ExportError:
        return None
