"""Corpus scores, all computed by sacreBLEU."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Score:
    """A corpus score and how it was computed."""

    name: str
    """``BLEU`` or ``chrF``."""
    text: str
    """``detokenised`` (spacing as people write) or ``tokenised`` (the corpus' own tokens)."""
    value: float
    """0 to 100, higher is better."""
    signature: str
    """sacreBLEU's signature; quote it with the value."""


def detokenised_scores(hypotheses: Sequence[str], references: Sequence[str]) -> list[Score]:
    """BLEU (tokenisation 13a, cased) and chrF of text as people write it."""
    return _scores("detokenised", hypotheses, references, tokenize="13a", lowercase=False)


def tokenised_scores(hypotheses: Sequence[str], references: Sequence[str]) -> list[Score]:
    """BLEU and chrF on the corpus' own tokens, lower-cased: nothing is tokenised again."""
    return _scores("tokenised", hypotheses, references, tokenize="none", lowercase=True)


def _scores(
    text: str, hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str, lowercase: bool
) -> list[Score]:
    from sacrebleu.metrics import BLEU, CHRF

    # force: the texts may look tokenised to sacreBLEU, and where they are, that is what was asked for.
    metrics = {
        "BLEU": BLEU(tokenize=tokenize, lowercase=lowercase, force=True),
        "chrF": CHRF(lowercase=lowercase),
    }
    scores = []
    for name, metric in metrics.items():
        value = metric.corpus_score(list(hypotheses), [list(references)]).score
        scores.append(Score(name=name, text=text, value=value, signature=str(metric.get_signature())))
    return scores
