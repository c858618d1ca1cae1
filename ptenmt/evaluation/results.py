"""What an evaluation finds: plain facts, for tables, reports and programs."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from ptenmt.atomic_files import NOTHING
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.evaluation.contrasts import Contrasts
from ptenmt.perplexity import perplexity

TextForm = Literal["detokenised", "tokenised"]
"""``detokenised``: spacing as people write; ``tokenised``: the corpus' own tokens, lower-cased."""
LOWER_IS_BETTER = frozenset({"TER"})
SIGNIFICANT = 0.05
"""Below this p-value a difference is taken for more than chance."""
LEAST_PAIRS = 20
"""Of fewer sentences a score says little, and resampling them does not tell how little."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """A corpus score, how sure it is, and how it was computed."""

    name: str
    """``BLEU``, ``chrF2++`` or ``TER``."""
    text: TextForm
    """Which form of the texts was compared."""
    value: float
    """0 to 100 (TER may exceed it); the higher the better, but TER: the lower the better."""
    mean: float
    """Of the bootstrap's resamples."""
    margin: float
    """Half the width of the 95 % confidence interval around ``mean``."""
    signature: str
    """sacreBLEU's signature; quote it with the value."""

    @property
    def low(self) -> float:
        """The lower end of the 95 % confidence interval; no score is below 0."""
        return max(self.mean - self.margin, 0.0)

    @property
    def high(self) -> float:
        """The upper end of the 95 % confidence interval; where higher is better, 100 is as good as can be."""
        end = self.mean + self.margin
        return end if self.name in LOWER_IS_BETTER else min(end, 100.0)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A score beside the baseline's of the same name and text."""

    score: Score
    baseline: Score
    p_value: float | None
    """How often resampling alone would give such a difference, by sacreBLEU's paired bootstrap; None: there
    is no difference at all."""

    @property
    def is_better(self) -> bool:
        """Whether the score is better than the baseline's, by however little."""
        delta = self.score.value - self.baseline.value
        return delta < 0 if self.score.name in LOWER_IS_BETTER else delta > 0

    @property
    def is_significant(self) -> bool:
        """Whether it is taken for more than chance."""
        return self.p_value is not None and self.p_value < SIGNIFICANT

    @property
    def verdict(self) -> str:
        """Which of the two is better, and whether it may be chance, in words."""
        if self.p_value is None:
            return "no difference"
        word = "better" if self.is_better else "worse"
        return word if self.is_significant else f"{word}, but it may be chance"

    def shown_p(self) -> str:
        """The p-value as people read it."""
        return NOTHING if self.p_value is None else f"{self.p_value:.3f}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every score beside a baseline's."""

    name: str
    """Of the run or file that is the baseline."""
    differences: list[Difference]


@dataclass(frozen=True, kw_only=True)
class SearchFacts:
    """How a run translated."""

    engine: str
    """What translated: ``ctranslate2`` or ``keras``."""
    compute_type: str
    """What it computed in, such as ``int8``."""
    beam_size: int
    """1: greedily."""
    length_penalty: float
    num_cut: int
    """Translations that reached the length limit before [END]."""
    num_split: int
    """Sentences longer than the model's positions, translated in parts."""
    seconds: float
    """For translating alone."""

    @property
    def in_words(self) -> str:
        """Such as ``ctranslate2, int8, beam 4``."""
        beams = "greedy" if self.beam_size == 1 else f"beam {self.beam_size}"
        return f"{self.engine}, {self.compute_type}, {beams}"


@dataclass(frozen=True, kw_only=True)
class Texts:
    """What was compared, a line a sentence, so that others can compute the scores again."""

    hypotheses: list[str]
    references: list[list[str | None]]
    """All sentences' first references, all sentences' second ones, and so on; None: it has no such one."""
    baseline: list[str] | None
    """The baseline's hypotheses, if there is one."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence, its references and what is to be judged."""

    row: int
    """Which pair it is, from 1: the line in a file."""
    source: str | None
    """None where only hypotheses and references are known."""
    references: list[str]
    """As people write them."""
    hypothesis: str
    """As people write it."""
    score: float
    """chrF2++ of this sentence alone, 0 to 100."""
    baseline: str | None = None
    """The baseline's hypothesis."""
    baseline_score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Band:
    """Sentences that are alike in something."""

    name: str
    """Such as ``10–19``."""
    num_pairs: int
    scores: list[Score]
    """Detokenised; empty where there is no pair."""

    @property
    def has_enough(self) -> bool:
        """Whether there are so many pairs that the scores and their intervals say something."""
        return self.num_pairs >= LEAST_PAIRS


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """Scores by something that makes sentences easy or hard."""

    title: str
    """Such as ``source length``."""
    unit: str
    """What the bands' names count."""
    bands: list[Band]
    missing: str = ""
    """Why there are no bands, if there are none."""


@dataclass(frozen=True, kw_only=True)
class Oddity:
    """A way in which hypotheses go wrong that can be told without understanding them."""

    name: str
    """``empty``, ``repeating``, ``copying`` or ``over-long``."""
    meaning: str
    """What makes a hypothesis one of them."""
    count: int
    examples: list[Sentence]
    """The first few."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """Source words that a run does not know, or does not know as a whole."""

    num_words: int
    """In all sources."""
    num_unknown: int
    """Those whose pieces have [UNK] among them."""
    num_cut: int
    """Those that are cut into several pieces."""
    num_unseen: int | None
    """Those that no training sentence had; None if the training pairs cannot be read."""
    num_sentences_with_unknown: int
    unknown: dict[str, int]
    """The most frequent unknown words, and how often they occur."""


@dataclass(frozen=True, kw_only=True)
class Weaknesses:
    """Where it fails."""

    breakdowns: list[Breakdown]
    worst: list[Sentence]
    """By ``Sentence.score``, the worst first."""
    best: list[Sentence]
    """The best first; none of them is among the worst."""
    oddities: list[Oddity]
    words: Words | None
    """None if no run is known, and so no vocabulary."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """All that ``ptenmt evaluate`` found."""

    name: str
    """The run's name, or that of the file of hypotheses."""
    folder: str | None
    """The run; None if finished hypotheses were scored without one."""
    checkpoint: str | None
    """Which of the run's weights translated, such as ``weights-3``."""
    split: HeldOutSplit | None
    """Which of the run's own pairs; None: files."""
    pairs_name: str
    """What was scored, in a few words: ``test pairs``, or ``pairs of`` a file."""
    files: dict[str, list[str]]
    """Files that were read: ``source``, ``reference`` (any number), ``hypotheses``."""
    fingerprint: str
    """SHA-256 of the prepared sources and first references."""
    num_pairs: int
    num_references: int
    loss: float | None
    """Mean cross-entropy of the real target tokens, in nats; None without a model."""
    accuracy: float | None
    """Share of the real target tokens that had the highest logit, given the right ones before them."""
    num_shortened: int | None
    """Sources and references that are longer than the model's positions: loss and accuracy are of their
    beginnings. None without a model."""
    scores: list[Score]
    """BLEU, chrF2++ and TER, detokenised; then, where the corpus comes tokenised, of its tokens."""
    comparison: Comparison | None
    search: SearchFacts | None
    """None: the hypotheses were given."""
    weaknesses: Weaknesses
    contrasts: Contrasts | None
    """None without a model, or for other languages than Portuguese and English."""
    sentences: list[Sentence]
    """All of them, in order."""
    texts: dict[TextForm, Texts]
    """What the scores were computed from."""

    @property
    def perplexity(self) -> float | None:
        """The exponential of the loss, if it is one that anybody could read (see ``perplexity``)."""
        return perplexity(self.loss)

    @property
    def sentences_per_second(self) -> float | None:
        """How fast they were translated; None: the hypotheses were given."""
        return None if self.search is None else self.num_pairs / self.search.seconds

    def facts(self) -> dict[str, Any]:
        """Everything but the sentences themselves, as JSON takes it."""
        return {name: facts_of(getattr(self, name)) for name in _names(self) if name not in _TEXTS}


_TEXTS = {"sentences", "texts"}
"""What an evaluation has of every sentence."""


def facts_of(value: Any) -> Any:
    """What is found as JSON takes it: of a dataclass its fields, and what follows from them."""
    if is_dataclass(value):
        return {name: facts_of(getattr(value, name)) for name in _names(value)}
    if isinstance(value, dict):
        return {name: facts_of(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [facts_of(each) for each in value]
    return value


def _names(value: Any) -> list[str]:
    """Of the fields and properties of a dataclass."""
    properties = [name for name, each in vars(type(value)).items() if isinstance(each, property)]
    return [*(field.name for field in fields(value)), *properties]
