"""What a report says, section by section."""

from ptenmt.evaluation.report_parts import Figure, Figures, Report, Section, Table
from ptenmt.evaluation.report_run import RunFacts, curves, options, surroundings
from ptenmt.evaluation.report_weaknesses import contrasts, examples, oddities, weaknesses, words
from ptenmt.evaluation.results import SIGNIFICANT, Comparison, Evaluation, Score

_LEADING = 3
"""Scores that the report leads with: BLEU, chrF2++ and TER as people write."""


def report_of(evaluation: Evaluation, run: RunFacts | None) -> Report:
    """Put a report together.

    Args:
        evaluation: What was found.
        run: What its run's files say; None if finished hypotheses were scored.
    """
    found, languages = evaluation.weaknesses, _languages(run)
    sections = [
        _scores(evaluation),
        *([] if evaluation.comparison is None else [_against(evaluation.comparison)]),
        *weaknesses(found),
        *oddities(found, evaluation.num_pairs, languages),
        *([] if found.words is None else [words(found.words)]),
        *([] if evaluation.contrasts is None else contrasts(evaluation.contrasts)),
        *examples(evaluation, languages),
        *([] if run is None else [curves(run)]),
        _origin(evaluation, run),
        *([] if run is None else [options(run.config)]),
    ]
    return Report(
        title=f"{evaluation.name}: {evaluation.num_pairs:,} {evaluation.pairs_name}",
        subtitle=_subtitle(evaluation, run),
        sections=sections,
    )


def score_name(score: Score) -> str:
    """Such as ``BLEU``, or ``BLEU (tokens)`` where it is of the corpus' own tokens."""
    return score.name if score.text == "detokenised" else f"{score.name} (tokens)"


def _languages(run: RunFacts | None) -> tuple[str | None, str | None]:
    if run is None:
        return None, None
    return run.config.data.source_language, run.config.data.target_language


def _subtitle(evaluation: Evaluation, run: RunFacts | None) -> str:
    source, target = _languages(run)
    parts = [] if source is None else [f"{source} → {target}"]
    if evaluation.num_references > 1:
        parts.append(f"{evaluation.num_references} references")
    parts.append("hypotheses from a file" if evaluation.search is None else evaluation.search.in_words)
    return " · ".join([*parts, surroundings()["date"]])


def _scores(evaluation: Evaluation) -> Section:
    figures = [
        Figure(name=score_name(score), value=f"{score.value:.1f}", note=_interval(score))
        for score in evaluation.scores[:_LEADING]
    ]
    if evaluation.perplexity is not None and evaluation.accuracy is not None:
        note = f"loss {evaluation.loss:.3f}, accuracy {evaluation.accuracy:.1%}"
        figures.append(Figure(name="perplexity", value=f"{evaluation.perplexity:.2f}", note=note))
    rows = [(score_name(score), f"{score.value:.2f}", _interval(score)) for score in evaluation.scores]
    header = ("score", "value", "95 % interval")
    signatures = [(score_name(score), score.signature) for score in evaluation.scores]
    teacher = (
        ""
        if evaluation.loss is None
        else (
            " Perplexity, loss (nats a token) and accuracy are of the reference's tokens, "
            "each predicted from the right ones before it."
        )
    )
    return Section(
        title="Scores",
        text="BLEU and chrF2++: the higher the better; TER: the lower the better. The intervals are "
        f"those of bootstrap resampling.{teacher}",
        parts=[
            Figures(figures=figures),
            Table(header=header, rows=rows, numbers=frozenset({1, 2})),
            Table(header=("", "sacreBLEU's signature"), rows=signatures),
        ],
    )


def _interval(score: Score) -> str:
    return f"{score.low:.1f} – {score.high:.1f}"


def _against(comparison: Comparison) -> Section:
    rows = [
        (
            score_name(each.score),
            f"{each.score.value:.2f}",
            f"{each.baseline.value:.2f}",
            f"{each.score.value - each.baseline.value:+.2f}",
            each.shown_p(),
            each.verdict,
        )
        for each in comparison.differences
    ]
    return Section(
        title=f"Against {comparison.name}",
        text="p is how often resampling the sentences alone would give such a difference, by sacreBLEU's "
        f"paired bootstrap; from {SIGNIFICANT} on it may be chance.",
        parts=[
            Table(
                header=("score", "here", comparison.name, "difference", "p", "verdict"),
                rows=rows,
                numbers=frozenset({1, 2, 3, 4}),
            )
        ],
    )


def _origin(evaluation: Evaluation, run: RunFacts | None) -> Section:
    rows = [*_model_rows(evaluation, run), *_data_rows(evaluation, run)]
    rows += [("made", ", ".join(f"{name} {version}" for name, version in surroundings().items()))]
    return Section(title="What was scored, and with what", parts=[Table(header=(), rows=rows)])


def _time(iso: str) -> str:
    return f"{iso[:16].replace('T', ' ')} UTC"


def _model_rows(evaluation: Evaluation, run: RunFacts | None) -> list[tuple[str, str]]:
    rows = []
    if run is not None:
        versions = run.told.get("versions", {})
        rows = [
            ("run", str(evaluation.folder)),
            *([] if evaluation.checkpoint is None else [("weights", evaluation.checkpoint)]),
            ("parameters", f"{run.told['parameters']:,}" if "parameters" in run.told else "unknown"),
            ("trained", _time(run.told["trained"]) if "trained" in run.told else "not to its end"),
            ("trained with", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ]
    if evaluation.search is not None:
        search = evaluation.search
        rows += [
            ("search", f"{search.in_words}, length penalty {search.length_penalty:g}"),
            ("speed", f"{evaluation.sentences_per_second:,.0f} sentences a second"),
            ("cut translations", f"{search.num_cut:,}, where the length limit came before the end"),
            ("split sources", f"{search.num_split:,}, longer than the model can read"),
        ]
    if evaluation.num_shortened is not None:
        told = f"{evaluation.num_shortened:,}, whose beginnings alone loss and accuracy know"
        rows.append(("texts longer than the model can read", told))
    return rows


def _data_rows(evaluation: Evaluation, run: RunFacts | None) -> list[tuple[str, str]]:
    rows = [(name, ", ".join(files)) for name, files in evaluation.files.items()]
    rows.append(("pairs", f"{evaluation.num_pairs:,} {evaluation.pairs_name}"))
    rows.append(("fingerprint of the pairs", evaluation.fingerprint))
    if run is not None:
        data = run.told.get("data", {})
        rows += [
            (f"of the run's {split} pairs", f"{part['fingerprint']} ({part['pairs']:,})")
            for split, part in data.items()
        ]
    return rows
