"""The directions that a server translates, and their models."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ptenmt.config import DecodingConfig
from ptenmt.data.languages import language_name
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.runs import Choice
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.server.limits import Refusal
from ptenmt.server.schemas import ModelAnswer
from ptenmt.translation import Translator

logger = logging.getLogger("ptenmt.server")


@dataclass(eq=False)
class Model:
    """A loaded model."""

    translator: Translator
    trained: TrainedModel
    """The same run, for attention."""
    description: ModelAnswer
    translator_bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the weights for attention are loaded."""

    @property
    def num_bytes(self) -> int:
        """Size of the weights in memory; those for attention are loaded when it is first requested."""
        arrays: dict[str, Any] = vars(self.trained).get("weights", {})
        return self.translator_bytes + sum(int(array.nbytes) for array in arrays.values())


@dataclass(eq=False)
class Direction:
    """A direction of translation."""

    source: str
    target: str
    load: Callable[[], Model]
    model: Model | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while a model is loaded."""

    @property
    def name(self) -> str:
        """Both languages: ``pt-en``."""
        return f"{self.source}-{self.target}"

    @property
    def num_bytes(self) -> int:
        """Memory of its model, once it is loaded."""
        return self.model.num_bytes if self.model else 0

    def read(self) -> Model:
        """Load the newest model; the present one stays if that fails."""
        self.model = self.load()
        return self.model


def direction_of_run(
    trained: TrainedModel, decoding: DecodingConfig, checkpoint: Choice, *, device: str, threads: int | None
) -> Direction:
    """The direction of a run, whose weights are read when it is loaded; raises ConfigError if it samples.

    ``checkpoint`` is that of ``TrainedModel.load``, ``device`` and ``threads`` those of ``Translator.load``.
    """
    if decoding.is_sampled:
        raise ConfigError(
            "a server gives the same translation each time, but this run samples",
            "add --set decoding.top_k=1 --set decoding.top_p=1 --set decoding.temperature=1",
        )

    def load() -> Model:
        loaded = TrainedModel.load(trained.run, checkpoint=checkpoint, on_warning=trained.on_warning)
        translator: Any = Translator.from_trained_model(
            loaded, "ctranslate2", decoding, device=device, threads=threads
        )
        vars(loaded).pop("weights", None)  # of a conversion
        return Model(translator, loaded, _describe(loaded), translator.engine.without_files())

    return Direction(*trained.config.data.languages, load)


def _describe(trained: TrainedModel) -> ModelAnswer:
    record, data = trained.run.record(), trained.config.data
    licences = {str(corpus["licence"]) for corpus in record.corpora if "licence" in corpus}
    if record.licence:
        licences.add(record.licence)
    if data.source == "demo":
        licences = {"Apache-2.0"}
    elif data.source == "tfds" and data.dataset.startswith("ted_hrlr_translate/"):
        licences = {"CC BY-NC-ND 4.0"}
    return ModelAnswer(
        name=trained.run.name,
        source=data.languages[0],
        target=data.languages[1],
        parameters=record.parameters or None,
        pairs=record.data["train"].size if "train" in record.data else None,
        step=trained.info.step,
        trained=record.trained or None,
        metric=trained.info.metric,
        score=trained.info.score,
        licences=sorted(licences),
    )


Route = tuple[Direction, ...]
"""How to translate from one language to another: a direction, two in sequence, or none for the same one."""


class Models:
    """The directions of a server; raises ConfigError if two have the same languages.

    The first is the default of routes whose requests name none. With ``pivots``, two directions are chained
    where there is no direct one.
    """

    def __init__(self, directions: Sequence[Direction], *, pivots: bool = False) -> None:
        self.directions = {(direction.source, direction.target): direction for direction in directions}
        if len(self.directions) < len(directions):
            names = [direction.name for direction in directions]
            twice = next(name for name in names if names.count(name) > 1)
            raise ConfigError(f"two runs translate {twice}", "give one --run for each direction")
        self.default = directions[0]
        self.languages = tuple(dict.fromkeys(code for pair in self.directions for code in pair))
        self._pivots = pivots
        self._logged = set[str]()

    def code(self, given: str) -> str:
        """The server's code of a language, given in any case, or as one of its regions: ``PT-br``, ``pb``."""
        known = {code.lower(): code for code in ("auto", *self.languages)}
        whole = given.lower().replace("_", "-")
        region_of = "pt" if whole == "pb" else whole.partition("-")[0]
        return known.get(whole, known.get(region_of, given))

    def find(self, source: str, target: str) -> Route | None:
        """The route from one language to another, if there is one."""
        if source == target:
            return ()
        if direct := self.directions.get((source, target)):
            return (direct,)
        chains = (
            (first, second)
            for first in self.directions.values()
            for second in self.directions.values()
            if self._pivots
            and first.source == source
            and (first.target, target) == (second.source, second.target)
        )
        return next(chains, None)

    def route(self, source: str, target: str) -> Route:
        """The route from one language to another; refuses, in LibreTranslate's words, if there is none."""
        for language in (source, target):
            if language not in self.languages:
                raise Refusal(f"{language[:35]} is not supported")
        chosen = self.find(source, target)
        if chosen is None:
            raise Refusal(
                f"{language_name(target)} ({target}) is not available as a target language "
                f"from {language_name(source)} ({source})"
            )
        return chosen

    def targets(self, source: str) -> list[str]:
        """The languages into which one can be translated, itself included."""
        return [target for target in self.languages if self.find(source, target) is not None]

    def load(self) -> None:
        """Load all models; raises PtenmtError if one cannot be."""
        for direction in self.directions.values():
            self.get(direction)

    def get(self, direction: Direction) -> Model:
        """The model of a direction."""
        if direction.model is None:
            with direction.lock:
                return direction.model or direction.read()
        return direction.model

    def reload(self) -> None:
        """Load the models again; requests in progress keep the old ones, and so do all if it fails."""
        self._logged.clear()
        for direction in self.directions.values():
            with direction.lock:
                if direction.model:
                    try:
                        direction.read()
                        logger.info("%s was loaded again", direction.name)
                    except PtenmtError as error:
                        self._unavailable(f"a newer model of {direction.name}", error, 503)

    def attention(self, model: Model, source: list[int], target: list[int]) -> dict[str, list[Any]]:
        """The attention weights of all layers and heads, rounded; refuses if the weights cannot be loaded.

        ``source`` are the ids of a sentence, ``target`` those fed to the decoder.
        """
        import numpy as np

        try:
            with model.lock:
                computed: Any = model.trained.numpy_model
        except PtenmtError as error:
            raise self._unavailable("attention", error, 501) from error
        weights = computed.attention(np.array([source]), np.array([target]))
        return {name: np.round(values[0].astype(float), 4).tolist() for name, values in weights.items()}

    def _unavailable(self, what: str, error: PtenmtError, status: int) -> Refusal:
        if error.message not in self._logged:  # repeated requests must not fill the log
            logger.warning("%s is not available: %s (%s)", what, error.message, error.hint)
        self._logged.add(error.message)
        return Refusal(f"{what} is not available; the server's log has the reason", status)
