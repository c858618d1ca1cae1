"""``run.json`` as a typed record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ptenmt.config.epochs import EpochSteps


@dataclass(frozen=True, kw_only=True)
class SplitRecord:
    """The data of a split when the run was trained."""

    size: int
    """Pairs, or windows of a next-word model."""
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class AverageRecord:
    """What an average was made from."""

    run: str
    checkpoints: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What ``run.json`` says; 0, empty or None where a run has no such entry."""

    created: str
    """When the run was first started, in ISO 8601."""
    trained: str
    """When it was last started."""
    versions: Mapping[str, str]
    """Of Python and of packages, by name."""
    data: Mapping[str, SplitRecord]
    parameters: int
    vocabulary_sizes: Sequence[int]
    steps_per_epoch: EpochSteps | None
    alignment_layer: int | None
    """The decoder layer, counted from 1, that aligns words."""
    bidirectional_epochs: int
    initialized_from: str
    averaged_from: AverageRecord | None
    distilled_from: Mapping[str, Any] | None
    imported_from: Mapping[str, Any] | None
    """The ``path``, ``form``, ``licence`` and ``files`` (SHA-256 by name) of an imported model."""
    corpora: Sequence[Mapping[str, Any]]
    """The public corpora that it learned from."""
    licence: str
    """Of the weights, where they are published."""

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "RunRecord":
        """Read the content of the file; TypeError, ValueError or KeyError for other types."""
        steps, average = facts.get("steps_per_epoch"), facts.get("averaged_from")
        layer = facts.get("alignment_layer")
        return cls(
            created=str(facts.get("created", "")),
            trained=str(facts.get("trained", "")),
            versions=dict(facts.get("versions", {})),
            data={split: _split_record(part) for split, part in dict(facts.get("data", {})).items()},
            parameters=int(facts.get("parameters", 0)),
            vocabulary_sizes=list(map(int, facts.get("vocabulary_sizes", ()))),
            steps_per_epoch=None if steps is None else EpochSteps.from_fact(steps),
            alignment_layer=layer if isinstance(layer, int) else None,
            bidirectional_epochs=int(facts.get("bidirectional_epochs", 0)),
            initialized_from=str(facts.get("initialized_from", "")),
            averaged_from=None if average is None else AverageRecord(**average),
            distilled_from=facts.get("distilled_from"),
            imported_from=facts.get("imported_from"),
            corpora=list(facts.get("corpora", ())),
            licence=str(facts.get("licence", "")),
        )


def _split_record(part: Mapping[str, Any]) -> SplitRecord:
    size = part["windows"] if "windows" in part else part.get("pairs", 0)
    return SplitRecord(size=int(size), fingerprint=str(part.get("fingerprint", "")))
