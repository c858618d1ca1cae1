"""How scores look in the terminal."""

from typing import TYPE_CHECKING

from ptenmt.atomic_files import NOTHING
from ptenmt.cli.tables import Grid, print_facts, print_grid

if TYPE_CHECKING:
    from ptenmt.evaluation import Evaluation, Setting, Sweep
    from ptenmt.evaluation.contrasts import Contrasts
    from ptenmt.evaluation.results import Band, Breakdown, Comparison, Sentence

_NUM_UNKNOWN_SHOWN = 10


def print_evaluation(evaluation: "Evaluation", *, with_details: bool) -> None:
    """Print the scores, and where it fails."""
    print_grid(_scores(evaluation))
    if evaluation.comparison is not None:
        print_grid(_comparison(evaluation.comparison))
    print_grid(_failures(evaluation))
    if not with_details:
        return
    for breakdown in evaluation.weaknesses.breakdowns:
        print_grid(_breakdown(breakdown))
    if evaluation.contrasts is not None:
        print_grid(_contrasts(evaluation.contrasts))
    for which, sentences in (
        ("worst", evaluation.weaknesses.worst),
        ("best", evaluation.weaknesses.best),
    ):
        for rank, sentence in enumerate(sentences, start=1):
            print_facts(f"\n{which} {rank}: sentence {sentence.row:,}", _sentence(sentence))


def print_sweep(sweep: "Sweep") -> None:
    """Print what each way to search gave, and which to use."""
    rows = [
        (
            str(setting.beam_size),
            NOTHING if setting.length_penalty is None else f"{setting.length_penalty:g}",
            f"{setting.bleu:.2f}",
            f"{sweep.num_pairs / setting.seconds:,.0f}",
            _beside_best(setting, sweep),
        )
        for setting in sweep.settings
    ]
    title = f"{sweep.name}: {sweep.num_pairs:,} {sweep.pairs_name}, {sweep.engine}"
    header = ("beams", "length penalty", "BLEU", "sentences/s", "beside the best, each alone")
    print_grid(Grid(title=title, header=header, rows=rows, numbers=frozenset({0, 1, 2, 3})))
    best, quickest = sweep.best, sweep.quickest
    use = {"best": _options(best)}
    if quickest != best:
        use["quickest that is not worse"] = _options(quickest)
    print_facts(f"\nuse, with BLEU {sweep.signature.replace('|', ' ')}", use)


def _scores(evaluation: "Evaluation") -> Grid:
    """The figures, and how they were computed."""
    rows, perplexity = [], evaluation.perplexity
    if evaluation.loss is not None:
        rows += [
            ("loss", f"{evaluation.loss:.4f}", "", "nats a token, right prefix given"),
            ("perplexity", NOTHING if perplexity is None else f"{perplexity:.2f}", "", "exp(loss)"),
            ("token accuracy", f"{evaluation.accuracy:.4f}", "", "right prefix given"),
        ]
    for score in evaluation.scores:
        how = f"{score.text}: {score.signature.replace('|', ' ')}"
        rows.append((score.name, f"{score.value:.2f}", f"{score.low:.2f}–{score.high:.2f}", how))
    if evaluation.search is not None:
        how = f"sentences a second: {evaluation.search.in_words}"
        rows.append(("speed", f"{evaluation.sentences_per_second:,.1f}", "", how))
    title = f"{evaluation.name}: {evaluation.num_pairs:,} {evaluation.pairs_name}"
    return Grid(title=title, header=("score", "value", "95 %", "how"), rows=rows, numbers=frozenset({1}))


def _comparison(comparison: "Comparison") -> Grid:
    rows = [
        (
            each.score.name,
            f"{each.score.value:.2f}",
            f"{each.baseline.value:.2f}",
            f"{each.score.value - each.baseline.value:+.2f}",
            each.shown_p(),
            f"{each.score.text}: {each.verdict}",
        )
        for each in comparison.differences
    ]
    header = ("score", "value", "baseline", "difference", "p", "paired bootstrap")
    title = f"\nagainst {comparison.name}"
    return Grid(title=title, header=header, rows=rows, numbers=frozenset({1, 2, 3, 4}))


def _failures(evaluation: "Evaluation") -> Grid:
    """What can be counted of what goes wrong."""
    search, found = evaluation.search, evaluation.weaknesses
    rows = [(f"{each.name} translations", f"{each.count:,}", each.meaning) for each in found.oddities]
    if search is not None:
        rows.append(("cut translations", f"{search.num_cut:,}", "the length limit came before the end"))
        if search.num_split:
            rows.append(("split sources", f"{search.num_split:,}", "longer than model.max_positions"))
    if evaluation.num_shortened:
        meaning = "longer than model.max_positions: loss and accuracy are of their beginnings"
        rows.append(("shortened texts", f"{evaluation.num_shortened:,}", meaning))
    words = found.words
    if words is not None:
        examples = ", ".join(list(words.unknown)[:_NUM_UNKNOWN_SHOWN])
        meaning = f"of {words.num_words:,} source words, the tokenizer has no pieces for these"
        rows.append(
            ("unknown words", f"{words.num_unknown:,}", f"{meaning}: {examples}" if examples else meaning)
        )
        if words.num_unseen is not None:
            rows.append(("unseen words", f"{words.num_unseen:,}", "the training pairs have them not"))
    if evaluation.contrasts is not None:
        right, num_items = evaluation.contrasts.num_right, len(evaluation.contrasts.items)
        meaning = "accents and contractions that must make a difference, both sentences right"
        rows.append(("minimal pairs", f"{right}/{num_items}", meaning))
    return Grid(title="\nwhere it fails", rows=rows, numbers=frozenset({1}))


def _breakdown(breakdown: "Breakdown") -> Grid:
    title = f"\nby {breakdown.title}: {breakdown.unit}"
    if breakdown.missing:
        return Grid(title=title, rows=[(NOTHING, breakdown.missing)])
    bands = [band for band in breakdown.bands if band.scores]
    names = [score.name for score in bands[0].scores]
    rows = [_band(band) for band in bands]
    header = (breakdown.title, "sentences", *names)
    return Grid(title=title, header=header, rows=rows, numbers=frozenset(range(1, len(header))))


def _band(band: "Band") -> tuple[str, ...]:
    margins = [f" ±{score.margin:.1f}" if band.has_enough else "" for score in band.scores]
    shown = [f"{score.value:.1f}{margin}" for score, margin in zip(band.scores, margins, strict=True)]
    return (band.name, f"{band.num_pairs:,}", *shown)


def _contrasts(contrasts: "Contrasts") -> Grid:
    """Each phenomenon, and what became of a pair that is wrong, if there is one."""
    rows = []
    for phenomenon, (right, count) in contrasts.by_phenomenon.items():
        items = [item for item in contrasts.items if item.phenomenon == phenomenon]
        wrong = next((item for item in items if not all(item.is_right)), None)
        example = ""
        if wrong is not None:
            pairs = zip(wrong.sources, wrong.translations, strict=True)
            example = "; ".join(f"{source} → {translation}" for source, translation in pairs)
            if wrong.is_same_input:
                example += " (the tokenizer makes the same of both)"
        rows.append((phenomenon, f"{right}/{count}", example))
    header = ("phenomenon", "right", "one that is wrong")
    return Grid(title="\nminimal pairs", header=header, rows=rows, numbers=frozenset({1}))


def _sentence(sentence: "Sentence") -> dict[str, str]:
    facts = {} if sentence.source is None else {"source": sentence.source}
    for number, reference in enumerate(sentence.references, start=1):
        facts["reference" if number == 1 else f"reference {number}"] = reference
    facts["translation"] = sentence.hypothesis or NOTHING
    if sentence.baseline is not None:
        facts["baseline"] = sentence.baseline or NOTHING
    facts["chrF2++"] = f"{sentence.score:.1f}"
    if sentence.baseline_score is not None:
        facts["chrF2++"] += f", baseline {sentence.baseline_score:.1f}"
    return facts


def _beside_best(setting: "Setting", sweep: "Sweep") -> str:
    if setting == sweep.best:
        return "best"
    if setting.p_value is None:
        return "the same"
    return f"p = {setting.p_value:.3f}" + (", worse" if setting.is_worse else "")


def _options(setting: "Setting") -> str:
    penalty = setting.length_penalty
    beams = f"--beam-size {setting.beam_size}"
    return beams if penalty is None else f"{beams} --set decoding.length_penalty={penalty:g}"
