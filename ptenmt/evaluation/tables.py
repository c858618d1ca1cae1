"""Evaluations and filtered data as tables, for the terminal and for reports."""

import math
from collections.abc import Iterator, Sequence

from ptenmt.data.filters import FilterReport
from ptenmt.evaluation.error_analysis import MIN_PAIRS, Breakdown, ErrorAnalysis
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.robustness import NoiseScores
from ptenmt.inspection.figures import Table
from ptenmt.runs.history import NOTHING
from ptenmt.scores import SIGNIFICANCE_LEVEL, BaselineComparison

_NUM_UNKNOWN_SHOWN = 10


def evaluation_tables(evaluation: Evaluation, *, with_details: bool) -> list[Table]:
    """The scores and the error analysis; with details, its breakdowns, too."""
    tables = [scores_table(evaluation)]
    if evaluation.comparison is not None:
        tables.append(comparison_table(evaluation.comparison))
    tables.append(failures_table(evaluation))
    if evaluation.robustness is not None:
        tables.append(robustness_table(evaluation.robustness))
    if with_details:
        tables += map(breakdown_table, evaluation.error_analysis.breakdowns)
    return [table for table in tables if table.rows]


def sentence_tables(analysis: ErrorAnalysis) -> Iterator[Table]:
    """The worst and the best sentences."""
    for which, sentences in (("worst", analysis.worst), ("best", analysis.best)):
        for rank, sentence in enumerate(sentences, start=1):
            rows = [] if sentence.source is None else [("source", sentence.source)]
            for number, reference in enumerate(sentence.references, start=1):
                rows.append(("reference" if number == 1 else f"reference {number}", reference))
            rows.append(("translation", sentence.hypothesis or NOTHING))
            score = f"{sentence.score:.1f}"
            if sentence.baseline is not None:
                rows.append(("baseline", sentence.baseline or NOTHING))
                score += f", baseline {sentence.baseline_score:.1f}"
            title = f"{which} {rank}: sentence {sentence.row:,}"
            yield Table(title=title, rows=[*rows, ("chrF2++", score)])


def data_tables(reports: Sequence[FilterReport]) -> list[Table]:
    """What is left of each training file, what each filter removed from it, and examples."""
    examples = [
        Table(
            title=f"{name}: examples",
            rows=[row for pair in removed.examples for row in zip(("source", "target"), pair, strict=True)],
        )
        for name, removed in FilterReport.total(reports).affected.items()
    ]
    return [files_table(reports), *([filters_table(reports)] if examples else []), *examples]


def files_table(reports: Sequence[FilterReport]) -> Table:
    """How many pairs were read from each training file, and how many are trained on."""
    rows = []
    for report in [*reports, FilterReport.total(reports)] if len(reports) > 1 else reports:
        counts = (report.num_read, report.num_drawn, sum(report.num_removed.values()), report.num_left)
        share = f"{report.num_left / max(report.num_read - report.num_drawn, 1):.1%}"
        rows.append((report.name, *(f"{count:,}" for count in counts), share))
    header = ("file", "pairs", "held out", "removed", "left", "share left")
    return Table(title="Training files", header=header, rows=rows, numbers={1, 2, 3, 4, 5})


def filters_table(reports: Sequence[FilterReport]) -> Table:
    """How many pairs each filter removed from each training file."""
    rows = [
        (name, report.name, f"{removed.count:,}", f"{removed.count / report.num_read:.2%}")
        for name in FilterReport.total(reports).affected
        for report in reports
        if (removed := report.affected.get(name))
    ]
    header = ("filter", "file", "pairs", "share")
    return Table(title="Removed by filter", header=header, rows=rows, numbers={2, 3})


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
    if (reliability := evaluation.reliability) is not None:
        correlation = reliability.rank_correlation
        how = f"its mean; mean sentence chrF / 100: {reliability.chrf:.4f}"
        rows += [
            ("confidence", f"{reliability.confidence:.4f}", "", how),
            ("calibration error", f"{reliability.calibration_error:.4f}", "", "ECE, ten bins of equal size"),
            (
                "rank correlation",
                NOTHING if math.isnan(correlation) else f"{correlation:.3f}",
                "",
                "Spearman, with sentence chrF",
            ),
        ]
    if evaluation.search is not None:
        how = f"sentences/s: {evaluation.search.description}"
        rows.append(("speed", f"{evaluation.sentences_per_second:,.1f}", "", how))
    weights = "" if evaluation.checkpoint is None else f", {evaluation.checkpoint}"
    title = f"{evaluation.name}{weights}: {_counted_pairs(evaluation)}"
    note = (
        "BLEU and chrF2++: higher is better; TER: lower is better. "
        "The intervals are 95% confidence intervals from bootstrap resampling."
    )
    return Table(title=title, header=("score", "value", "95%", "how"), rows=rows, numbers={1}, note=note)


def comparison_table(comparison: BaselineComparison) -> Table:
    """Every score beside the baseline's."""
    rows = [
        (
            difference.score.name,
            f"{difference.score.value:.2f}",
            f"{difference.baseline.value:.2f}",
            f"{difference.score.value - difference.baseline.value:+.2f}",
            difference.formatted_p(),
            f"{difference.score.text}: {difference.verdict}",
        )
        for difference in comparison.differences
    ]
    header = ("score", "value", "baseline", "difference", "p", "paired bootstrap")
    note = f"A difference is significant where p is below {SIGNIFICANCE_LEVEL}."
    title = f"against {comparison.name}"
    return Table(title=title, header=header, rows=rows, numbers={1, 2, 3, 4}, note=note)


def failures_table(evaluation: Evaluation) -> Table:
    """Everything that the error analysis counts."""
    search, words = evaluation.search, evaluation.error_analysis.words
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
    if words is not None:
        definition = f"of {words.num_words:,} source words, in {words.num_sentences_with_unknown:,} sentences"
        if words.unknown:
            definition += f": {', '.join(list(words.unknown)[:_NUM_UNKNOWN_SHOWN])}"
        rows.append(("unknown words", f"{words.num_unknown:,}", definition))
        if words.num_unseen is not None:
            definition = "source words that never occur in the training data"
            rows.append(("unseen words", f"{words.num_unseen:,}", definition))
        rows.append(("split words", f"{words.num_split:,}", "source words of several tokens"))
    return Table(title="error analysis", rows=rows, numbers={1})


def robustness_table(robustness: Sequence[NoiseScores]) -> Table:
    """The scores under each noise, and how much lower they are than without."""
    rows = [
        (
            scores.noise,
            f"{scores.num_changed:,}",
            f"{scores.bleu:.2f}",
            f"{0 - scores.bleu_drop:+.2f}" if number else "",
            f"{scores.chrf:.2f}",
            f"{0 - scores.chrf_drop:+.2f}" if number else "",
        )
        for number, scores in enumerate(robustness)
    ]
    header = ("noise", "changed", "BLEU", "difference", "chrF", "difference")
    note = (
        "The noises are options of data.augment. The references have the same, except for typos. "
        "Differences are from the first row."
    )
    return Table(title="robustness", header=header, rows=rows, numbers=range(1, 6), note=note)


def breakdown_table(breakdown: Breakdown) -> Table:
    """The scores of each band that has sentences; intervals where there are enough of them."""
    title = f"by {breakdown.title}: {breakdown.unit}"
    if breakdown.missing:
        return Table(title=title, rows=[(NOTHING, breakdown.missing)])
    bands = [band for band in breakdown.bands if band.scores]
    rows = []
    for band in bands:
        margins = [f" ± {score.margin:.1f}" if band.has_enough else "" for score in band.scores]
        cells = [f"{score.value:.1f}{margin}" for score, margin in zip(band.scores, margins, strict=True)]
        rows.append((band.name, f"{band.num_pairs:,}", *cells))
    header = (breakdown.title, "sentences", *(score.name for score in bands[0].scores))
    note = f"Groups of fewer than {MIN_PAIRS} sentences have no interval."
    note = "" if all(band.has_enough for band in bands) else note
    return Table(title=title, header=header, rows=rows, numbers=range(1, len(header)), note=note)


def _counted_pairs(of: Evaluation) -> str:
    """Such as ``500 test pairs``."""
    name = of.pairs_name if of.num_pairs != 1 else of.pairs_name.replace("pairs", "pair", 1)
    return f"{of.num_pairs:,} {name}"
