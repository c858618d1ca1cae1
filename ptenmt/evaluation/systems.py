"""A run that translates what is to be scored."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from ptenmt.config import Config
from ptenmt.config.loading import override_decoding
from ptenmt.errors import ConfigError, RunError
from ptenmt.evaluation.material import Material, Output, output_of_texts, output_of_translations
from ptenmt.evaluation.results import SearchFacts
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tasks import check_task
from ptenmt.trained_model import TrainedModel
from ptenmt.translation import Translation, Translator
from ptenmt.translation.loading import EngineName

Progress = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how much is done."""
_WINDOW = 512
"""Texts between two steps of the progress, where they are read as a stream."""


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How runs are loaded.

    Args:
        checkpoint: Which of a run's weights.
        engine: What translates.
        overrides: ``decoding.option=value`` each: how to search, where not as each run's config says.
        on_warning: Told, in a sentence, of what is not as it should be.
        on_tensorflow: Called before TensorFlow is imported.
    """

    checkpoint: Choice
    engine: EngineName
    overrides: Sequence[str]
    on_warning: Callable[[str], None]
    on_tensorflow: Callable[[], None]

    def system(self, run: Run, config: Config, *, with_model: bool = False) -> "System":
        """The run, ready to translate.

        Args:
            run: Where it is.
            config: Its options.
            with_model: The Keras model is going to be used, too: both are of the same weights, whatever a
                training does to the run meanwhile.

        Raises:
            CheckpointError: It has no checkpoint that can be read.
            ExportError: The engine cannot express the model.
            ConfigError: An override is of no option for searching, or does not go with the run's others.
        """
        decoding = override_decoding(replace(config.decoding, num_hypotheses=1), self.overrides)
        if decoding.num_hypotheses > 1:
            raise ConfigError(
                f"decoding.num_hypotheses={decoding.num_hypotheses}: one of each sentence is scored"
            )
        check_task(run, config.task, "translation")
        trained = TrainedModel.load(run, checkpoint=self.checkpoint, on_warning=self.on_warning)
        if with_model:
            self.on_tensorflow()
            assert trained.keras_model
        translator = Translator.of(trained, self.engine)
        return System(run=run, trained=trained, translator=translator.with_options(**asdict(decoding)))


@dataclass(frozen=True, kw_only=True)
class System:
    """A run that translates."""

    run: Run
    trained: TrainedModel
    translator: Translator

    def translate(self, material: Material, show: Progress) -> tuple[Output, SearchFacts]:
        """Translate all sources."""
        started = time.perf_counter()
        translations = translate_all(self.translator, material, show)
        seconds = time.perf_counter() - started
        is_alike = material.is_prepared_like(self.translator.config.data)
        if is_alike:
            output = output_of_translations(translations, material)
        else:
            output = output_of_texts([translation.text for translation in translations], material)
        engine, decoding = self.translator.engine, self.translator.config.decoding
        facts = SearchFacts(
            engine=engine.name,
            compute_type=engine.compute_type,
            beam_size=decoding.beam_size,
            length_penalty=decoding.length_penalty,
            num_cut=sum(not translation.is_complete for translation in translations),
            num_split=sum(translation.is_split for translation in translations),
            seconds=seconds,
        )
        return output, facts


def translate_all(translator: Translator, material: Material, show: Progress) -> list[Translation]:
    """Translate all sources, in order.

    Sentences of a corpus are read as the training read them; other texts, and those of a corpus that was
    prepared in another way, as users' texts are.
    """
    assert material.sources is not None
    assert material.prepared is not None
    total = len(material)
    if material.is_corpus and material.is_prepared_like(translator.config.data):
        translations: dict[int, Translation] = {}
        for found in translator.translate_prepared(material.prepared, with_scores=False):
            translations |= found
            show("translating", len(translations), total)
        return [translations[row] for row in range(total)]
    done: list[Translation] = []
    for window in translator.translate_buffers(material.sources, buffer_size=_WINDOW, with_scores=False):
        done += window
        show("translating", len(done), total)
    return done


def baseline_run(name: str) -> Run:
    """The run that a baseline which is no file names.

    Raises:
        RunError: There is none.
    """
    try:
        return find_run(name)
    except RunError as error:
        raise RunError(f"{error.message}, nor is there a file {name}", error.hint) from error
