"""Evaluations as tables, for the terminal and for reports."""

from collections.abc import Sequence

from ptenmt.evaluation.error_analysis import Band, EvaluatedSentence
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.robustness import NoiseScores
from ptenmt.inspection.figures import Table
from ptenmt.runs.history import NOTHING


def evaluation_tables(evaluation: Evaluation, *, with_details: bool) -> list[Table]:
    """The scores and the error analysis; with details, by source length and of the worst sentences, too."""
    tables = [scores_table(evaluation), failures_table(evaluation)]
    if evaluation.robustness is not None:
        tables.append(robustness_table(evaluation.robustness))
    if with_details:
        analysis = evaluation.error_analysis
        tables += [length_table(analysis.by_length), worst_table(analysis.worst)]
    return [table for table in tables if table.rows]


def worst_table(sentences: Sequence[EvaluatedSentence]) -> Table:
    """The sentences with the lowest scores."""
    rows = [
        (
            f"{sentence.row:,}",
            f"{sentence.score:.1f}",
            sentence.source or NOTHING,
            " | ".join(sentence.references),
            sentence.hypothesis or NOTHING,
        )
        for sentence in sentences
    ]
    header = ("sentence", "chrF2++", "source", "reference", "translation")
    return Table(title="worst sentences", header=header, rows=rows, numbers={0, 1})


def scores_table(evaluation: Evaluation) -> Table:
    """The scores, and how they were computed."""
    rows, perplexity = [], evaluation.perplexity
    if evaluation.loss is not None:
        rows += [
            ("loss", f"{evaluation.loss:.4f}", "", "nats per token, teacher-forced"),
            ("perplexity", NOTHING if perplexity is None else f"{perplexity:.2f}", "", "exp(loss)"),
            ("token accuracy", f"{evaluation.accuracy:.4f}", "", "teacher-forced"),
        ]
    for score in evaluation.scores:
        how = f"{score.text}: {score.signature.replace('|', ' ')}"
        rows.append((score.name, f"{score.value:.2f}", f"{score.low:.2f}–{score.high:.2f}", how))
    if evaluation.search is not None:
        how = f"sentences/s: {evaluation.search.description}"
        rows.append(("speed", f"{evaluation.sentences_per_second:,.1f}", "", how))
    weights = "" if evaluation.checkpoint is None else f", {evaluation.checkpoint}"
    title = f"{evaluation.name}{weights}: {evaluation.num_pairs:,} {evaluation.pairs_name}"
    note = (
        "BLEU and chrF2++: higher is better; TER: lower is better. "
        "The intervals are 95% confidence intervals from bootstrap resampling."
    )
    return Table(title=title, header=("score", "value", "95%", "how"), rows=rows, numbers={1}, note=note)


def failures_table(evaluation: Evaluation) -> Table:
    """Everything that the error analysis counts."""
    search = evaluation.search
    rows = [
        (f"{kind.name} translations", f"{kind.count:,}", kind.definition)
        for kind in evaluation.error_analysis.degenerate_outputs
    ]
    if search is not None:
        rows.append(("truncated translations", f"{search.num_truncated:,}", "length limit reached"))
        if search.num_split:
            rows.append(("split sources", f"{search.num_split:,}", "longer than model.max_positions"))
    if evaluation.num_truncated:
        definition = "longer than model.max_positions: truncated for loss and accuracy"
        rows.append(("truncated texts", f"{evaluation.num_truncated:,}", definition))
    return Table(title="error analysis", rows=rows, numbers={1})


def robustness_table(robustness: Sequence[NoiseScores]) -> Table:
    """The scores under each noise, and how far they are from those without."""
    clean, *others = robustness
    rows = [(clean.noise, f"{clean.num_changed:,}", f"{clean.bleu:.2f}", "", f"{clean.chrf:.2f}", "")]
    rows += [
        (
            scores.noise,
            f"{scores.num_changed:,}",
            f"{scores.bleu:.2f}",
            f"{scores.bleu - clean.bleu:+.2f}",
            f"{scores.chrf:.2f}",
            f"{scores.chrf - clean.chrf:+.2f}",
        )
        for scores in others
    ]
    header = ("noise", "changed", "BLEU", "difference", "chrF", "difference")
    note = (
        "The noises are options of data.augment. The references have the same, except for typos. "
        "Differences are from the first row."
    )
    return Table(title="robustness", header=header, rows=rows, numbers=range(1, 6), note=note)


def length_table(bands: Sequence[Band]) -> Table:
    """The scores of sentences by the length of their sources."""
    names = list(bands[0].scores) if bands else []
    rows = [
        (band.name, f"{band.num_pairs:,}", *(f"{value:.1f}" for value in band.scores.values()))
        for band in bands
    ]
    header = ("words in the source", "sentences", *names)
    return Table(title="by source length", header=header, rows=rows, numbers=range(1, len(header)))
