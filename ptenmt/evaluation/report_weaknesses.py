"""The part of a report that says where a model fails, with examples."""

from collections.abc import Sequence

from ptenmt.atomic_files import NOTHING
from ptenmt.evaluation.contrasts import Contrast, Contrasts
from ptenmt.evaluation.differences import nearest_reference
from ptenmt.evaluation.report_parts import Bar, BarChart, Example, Examples, Part, Section, Table
from ptenmt.evaluation.results import (
    LEAST_PAIRS,
    Band,
    Breakdown,
    Evaluation,
    Sentence,
    Weaknesses,
    Words,
)

_Languages = tuple[str | None, str | None]


def weaknesses(found: Weaknesses) -> list[Section]:
    """Scores by what makes sentences hard."""
    return [_breakdown(each) for each in found.breakdowns]


def oddities(found: Weaknesses, num_pairs: int, languages: _Languages) -> list[Section]:
    """Hypotheses that are wrong at sight: how many, and the first few."""
    if not found.oddities:
        return []
    rows = [
        (each.name, f"{each.count:,}", f"{each.count / num_pairs:.1%}", each.meaning)
        for each in found.oddities
    ]
    header = ("hypotheses", "count", "share", "which are they")
    table = Table(header=header, rows=rows, numbers=frozenset({1, 2}))
    shown = [_example(sentence, f"{each.name}: ") for each in found.oddities for sentence in each.examples]
    sections = [Section(title="Wrong at sight", parts=[table])]
    if shown:
        folded = Examples(examples=shown, languages=languages)
        sections.append(Section(title="Wrong at sight: examples", parts=[folded], is_folded=True))
    return sections


def words(found: Words) -> Section:
    """What the vocabulary lacks."""
    of_all = max(found.num_words, 1)
    rows = [
        ("cut into several pieces", f"{found.num_cut:,}", f"{found.num_cut / of_all:.1%}"),
        ("unknown, even in part", f"{found.num_unknown:,}", f"{found.num_unknown / of_all:.1%}"),
    ]
    if found.num_unseen is not None:
        rows.append(("in no training sentence", f"{found.num_unseen:,}", f"{found.num_unseen / of_all:.1%}"))
    parts: list[Part] = [
        Table(header=("source words", "count", "share"), rows=rows, numbers=frozenset({1, 2}))
    ]
    if found.unknown:
        unknown = [(word, f"{count:,}") for word, count in found.unknown.items()]
        parts.append(Table(header=("most frequent unknown", "count"), rows=unknown, numbers=frozenset({1})))
    return Section(
        title="Words",
        text=f"Of {found.num_words:,} source words. {found.num_sentences_with_unknown:,} sentences have "
        "an unknown one.",
        parts=parts,
    )


def contrasts(found: Contrasts) -> list[Section]:
    """How the minimal pairs went."""
    counts = found.by_phenomenon
    rows = [(name, f"{right:,} of {number:,}") for name, (right, number) in counts.items()]
    same = sum(item.is_same_input for item in found.items)
    deaf = (
        f" The tokenizer makes the same of {same:,} of them: no model could tell those apart." if same else ""
    )
    return [
        Section(
            title="Minimal pairs",
            text="Pairs of sentences that differ in one accent or contraction. A pair is right if both "
            f"translations are: {found.num_right:,} of {len(found.items):,}.{deaf}",
            parts=[Table(header=("phenomenon", "right"), rows=rows, numbers=frozenset({1}))],
        ),
        Section(title="Minimal pairs: all", parts=[_contrast_table(found.items)], is_folded=True),
    ]


def examples(evaluation: Evaluation, languages: _Languages) -> list[Section]:
    """The worst and the best sentences."""
    found = evaluation.weaknesses
    told = "Marked are the words of a translation that its reference has not, and the other way round."
    return [
        Section(
            title=title,
            text=told,
            parts=[Examples(examples=[_example(each) for each in sentences], languages=languages)],
            is_folded=is_folded,
        )
        for title, sentences, is_folded in (
            ("Worst sentences", found.worst, False),
            ("Best sentences", found.best, True),
        )
        if sentences
    ]


def _breakdown(breakdown: Breakdown) -> Section:
    title = f"By {breakdown.title}"
    full = [band for band in breakdown.bands if band.scores]
    if not full:
        return Section(title=title, text=breakdown.missing or "There are no sentences to tell apart.")
    names = [score.name for score in full[0].scores]
    rows = [(band.name, f"{band.num_pairs:,}", *_shown(band, len(names))) for band in breakdown.bands]
    header = (breakdown.title, "sentences", *names)
    bars = [_bar(band) for band in full if band.has_enough]
    charts = [BarChart(title=f"{names[0]} by {breakdown.title}", bars=bars)] if bars else []
    table = Table(header=header, rows=rows, numbers=frozenset(range(1, len(header))))
    few = f" Of fewer than {LEAST_PAIRS} sentences there is no interval." if len(bars) < len(full) else ""
    return Section(title=title, text=f"By the {breakdown.unit}.{few}", parts=[*charts, table])


def _shown(band: Band, num_scores: int) -> list[str]:
    """The scores of a band, with intervals if there are enough sentences."""
    if not band.scores:
        return [NOTHING] * num_scores
    if not band.has_enough:
        return [f"{score.value:.1f}" for score in band.scores]
    return [f"{score.value:.1f} ± {score.margin:.1f}" for score in band.scores]


def _bar(band: Band) -> Bar:
    score = band.scores[0]
    interval = (score.low, score.high)
    return Bar(label=band.name, value=score.value, shown=f"{score.value:.1f}", interval=interval)


def _example(sentence: Sentence, prefix: str = "") -> Example:
    translations = [("translation", sentence.hypothesis)]
    title = f"{prefix}pair {sentence.row:,} · chrF2++ {sentence.score:.1f}"
    if sentence.baseline is not None:
        translations.append(("baseline", sentence.baseline))
        title += f" · baseline {sentence.baseline_score:.1f}"
    return Example(
        title=title,
        source=sentence.source,
        reference=nearest_reference(sentence.hypothesis, sentence.references),
        translations=translations,
    )


def _contrast_table(items: Sequence[Contrast]) -> Table:
    rows = []
    for item in items:
        for number in (0, 1):
            verdict = "right" if item.is_right[number] else "wrong"
            if item.is_same_input:
                verdict += ", same input"
            expected = " and ".join(
                " / ".join(words) for words in (item.expected_of_both, item.expected[number]) if words
            )
            rows.append((item.sources[number], item.translations[number], expected, verdict))
    return Table(header=("source", "translation", "expected word", "verdict"), rows=rows)
