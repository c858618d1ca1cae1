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
from ptenmt.server.queue import CoalescingEngine
from ptenmt.translation import Translator

logger = logging.getLogger("ptenmt.server")


@dataclass(eq=False)
class Model:
    """A loaded model, whose translator has a ``CoalescingEngine``."""

    translator: Translator
    trained: TrainedModel
    """The same weights, for attention."""
    description: dict[str, Any]
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the weights for attention are read, when it is first requested."""

    def attention(self, source: list[int], target: list[int]) -> dict[str, list[Any]]:
        """The attention weights of all layers and heads, rounded; refuses if the weights were replaced.

        ``source`` are the ids of a sentence, ``target`` those fed to the decoder.
        """
        import numpy as np

        try:
            with self.lock:
                computed: Any = self.trained.numpy_model
        except PtenmtError as error:
            logger.info("attention is not available: %s (%s)", error.message, error.hint)
            raise Refusal(
                "attention is not available: the weights that translate can no longer be read", 501
            ) from error
        weights = computed.attention(np.array([source]), np.array([target]))
        return {name: np.round(values[0].astype(float), 4).tolist() for name, values in weights.items()}


@dataclass(eq=False)
class Direction:
    """A direction of translation; ``read`` reads its newest model, which ``Models`` keeps in ``model``."""

    source: str
    target: str
    read: Callable[[], Model]
    model: Model = field(init=False)

    @property
    def name(self) -> str:
        """Both languages: ``pt-en``."""
        return f"{self.source}-{self.target}"


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
    source, target = trained.config.data.languages

    def read() -> Model:
        loaded = TrainedModel.load(trained.run, checkpoint=checkpoint, on_warning=trained.on_warning)
        fast = Translator.from_trained_model(loaded, "ctranslate2", decoding, device=device, threads=threads)
        shared: Any = CoalescingEngine(fast.engine, f"{source}-{target}")
        # Without the arrays that a conversion has read.
        for_attention = TrainedModel(loaded.run, loaded.config, loaded.tokenizers, loaded.info)
        return Model(Translator(shared, fast.tokenizers, fast.config), for_attention, _description(loaded))

    return Direction(source, target, read)


def _description(trained: TrainedModel) -> dict[str, Any]:
    """What is known of a model: None where nothing is, and of licences those of the training data."""
    facts, splits, data = trained.run.facts(), trained.run.splits(), trained.config.data
    licences = {str(corpus["licence"]) for corpus in facts.get("corpora", ()) if "licence" in corpus}
    licences.add(trained.run.licence)
    if data.source == "tfds" and data.dataset.startswith("ted_hrlr_translate/"):
        licences.add("CC BY-NC-ND 4.0")
    return {
        "name": trained.run.name,
        "source": data.languages[0],
        "target": data.languages[1],
        "parameters": facts.get("parameters"),
        "pairs": splits["train"].size if "train" in splits else None,
        "step": trained.info.step,
        "trained": facts.get("trained"),
        "metric": trained.info.metric,
        "score": trained.info.score,
        "licences": sorted(filter(None, licences)),
    }


class Models:
    """The directions of a server; raises ConfigError if two have the same languages.

    The first is the default of routes whose requests name none.
    """

    def __init__(self, directions: Sequence[Direction]) -> None:
        self.directions = {(direction.source, direction.target): direction for direction in directions}
        if len(self.directions) < len(directions):
            names = [direction.name for direction in directions]
            twice = next(name for name in names if names.count(name) > 1)
            raise ConfigError(f"two runs translate {twice}", "give one --run for each direction")
        self.default = directions[0]
        self.languages = tuple(dict.fromkeys(code for pair in self.directions for code in pair))

    def code(self, given: str) -> str:
        """The server's code of a language, given in any case, or as one of its regions: ``PT-br``, ``pb``."""
        known = {code.lower(): code for code in ("auto", *self.languages)}
        whole = given.lower().replace("_", "-")
        region_of = "pt" if whole == "pb" else whole.partition("-")[0]
        return known.get(whole, known.get(region_of, given))

    def can_translate(self, source: str, target: str) -> bool:
        """Whether there is a direction, or none is needed because the languages are the same."""
        return source == target or (source, target) in self.directions

    def direction(self, source: str, target: str) -> Direction | None:
        """The direction of two languages; None if they are the same; refuses in LibreTranslate's words."""
        for language in (source, target):
            if language not in self.languages:
                raise Refusal(f"{language[:35]} is not supported")
        if not self.can_translate(source, target):
            raise Refusal(
                f"{language_name(target)} ({target}) is not available as a target language "
                f"from {language_name(source)} ({source})"
            )
        return self.directions.get((source, target))

    def load(self) -> None:
        """Load all models; raises PtenmtError if one cannot be."""
        for direction in self.directions.values():
            direction.model = direction.read()

    def reload(self) -> None:
        """Load the models again; requests in progress keep the old ones, and so do all if it fails."""
        for direction in self.directions.values():
            try:
                direction.model = direction.read()
                logger.info("%s was loaded again", direction.name)
            except PtenmtError as error:
                logger.warning("%s stays as it is: %s (%s)", direction.name, error.message, error.hint)
