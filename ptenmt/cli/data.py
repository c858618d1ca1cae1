"""``ptenmt corpora``, ``download``, ``data``, ``clean`` and ``lexicon``: training pairs before a training."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from ptenmt.atomic_files import written_whole
from ptenmt.cli import options
from ptenmt.cli.charts import print_table, print_tables
from ptenmt.cli.console import Screen, counted, load_tensorflow
from ptenmt.cli.options import ConfigName, Overrides
from ptenmt.config import CorpusFile, DataConfig
from ptenmt.config.loading import load_config
from ptenmt.data.corpora import fetch_corpora, list_corpora
from ptenmt.data.corpus import fetch_data, fetch_sources, load_corpus
from ptenmt.data.lexicon import Lexicon, read_dictionary
from ptenmt.data.readers import read_lines, read_pairs
from ptenmt.data.sides import suspicions
from ptenmt.errors import ConfigError
from ptenmt.evaluation.report import check_report_file, write_data_report
from ptenmt.evaluation.tables import data_tables
from ptenmt.inspection.figures import Table
from ptenmt.runs import find_run
from ptenmt.translation.cleaning import Cleaning


def corpora(
    screen: Screen,
    languages: Annotated[str, typer.Option(metavar="L-L")] = "pt-en",
    search: Annotated[str, typer.Option(metavar="TEXT")] = "",
) -> None:
    """List the public corpora that a config can name, with version, source, licence and citation.

    In a config: data.train: [{corpus: OPUS-ted2020-v1-eng-por}, {corpus: …, limit: 300000}]. The list is
    mtdata's and needs no network. It has no sizes, and a licence only where ptenmt knows what the publisher
    states; check it before you distribute a model. Citations are keys of BibTeX entries, which stand in
    run.json and in the model card of an export.

    Example: ptenmt corpora --languages pt-en --search ted

    Args:
        languages: The two languages, in either order.
        search: Only names that contain this.
    """
    codes = languages.split("-")
    if len(codes) != 2:
        raise ConfigError(
            f"--languages {languages} must be two languages, such as pt-en",
            "write a region with an underscore, such as pt_BR-en",
        )
    with screen.working("loading the list of corpora…"):
        listed = list_corpora(codes[0], codes[1], search)
    if not listed:
        screen.say(f"no corpus of {languages}" + (f" has {search} in its name" if search else ""))
        return
    header = ("corpus", "version", "source", "licence", "citation")
    title = f"public corpora of {languages}: {len(listed):,}"
    print_table(Table(title=title, header=header, rows=list(map(_row, listed))))


def _row(corpus: dict[str, Any]) -> tuple[str, ...]:
    url = corpus["urls"][0]
    citations = ", ".join(corpus["citations"]) or "none"
    return corpus["name"], corpus["version"], urlsplit(url).hostname or url, corpus["licence"], citations


def download(
    screen: Screen,
    config: ConfigName = "base.yaml",
    overrides: Overrides = None,
) -> None:
    """Download the data set, the public corpora and the tokenizer of a config, unless they are there already.

    Relevant options: data.source, data.dataset, data.data_dir, data.archive_url (a mirror), corpora in
    data.train, data.validation and data.test, tokenizer.kind, tokenizer.path, tokenizer.url (a mirror) and
    tokenizer.sha256. Interrupted downloads resume. Proxies are taken from the environment (HTTPS_PROXY).

    Example: ptenmt download --config base.yaml --set data.data_dir=tfds

    Example: ptenmt download --config opus.yaml
    """
    settings = load_config(config, overrides or [])
    if settings.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        tokenizer = fetch_sources(settings, show)
    if settings.data.source == "tfds":
        screen.say(f"data set {settings.data.dataset}: ready")
    if tokenizer.kind == "wordpiece":
        screen.say(f"tokenizer: {tokenizer.path}")
    corpora = fetch_corpora(settings.data)
    for facts in corpora:
        screen.say(f"corpus {facts['name']}: {facts['pairs']:,} pairs, licence: {facts['licence']}")
    if settings.data.source != "tfds" and tokenizer.kind != "wordpiece" and not corpora:
        screen.say(f"{config} needs nothing from the network")


def data(
    screen: Screen,
    config: ConfigName,
    overrides: Overrides = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
) -> dict[str, Any]:
    """Show what the filters remove from each training file, with examples.

    The filters are options of data.filters; sentences of the validation and test pairs are removed in any
    case. The prepared pairs are cached for the training (data.cache_dir).

    Example: ptenmt data --config files.yaml --report data.html

    Example: ptenmt data --config mine.yaml --set data.filters.right_language=true

    Args:
        report: Write what each filter removed from each file, with examples: .html, .md or .json.
    """
    settings = load_config(config, overrides or [])
    if settings.task != "translation":
        raise ConfigError(
            f"task={settings.task} has no sentence pairs", "give the config of a translation model"
        )
    if report is not None:  # checked before the data are read, which may take long
        check_report_file(report)
    _fetch(screen, settings.data)
    with screen.working("reading and filtering the pairs"):
        for suspicion in suspicions(settings.data):
            screen.warn(suspicion)
        reports = load_corpus(settings.data, settings.seed).reports
    print_tables(data_tables(reports))
    if report is not None:
        write_data_report(reports, settings.data, report)
        screen.say(f"report: {report}")
    return {"files": list(map(asdict, reports))}


def clean(
    screen: Screen,
    config: options.ConfigName,
    forward: options.ForwardRun,
    backward: options.BackwardRun,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE")],
    keep: Annotated[float, typer.Option(metavar="SHARE")] = 0.8,
    overrides: options.Overrides = None,
    device: options.Device = "cpu",
    threads: options.Threads = None,
) -> None:
    """Keep the training pairs that two trained models, one in each direction, find the most probable.

    The pairs are those that the filters of the config leave. They are scored by dual conditional
    cross-entropy (Junczys-Dowmunt 2018). The output can take the place of data.train in the same config; its
    third column is the score, between 0 and 1. Scores are cached: another --keep needs no scoring, and after
    an interruption the same command continues.

    Example: ptenmt clean --config mine.yaml --forward pt-en --backward en-pt --keep 0.8 --output clean.tsv.gz

    Args:
        output: A .tsv or .tsv.gz file, written whole or not at all.
        keep: The share of the pairs to keep.
    """
    job = Cleaning(
        config=load_config(config, overrides or []),
        forward=find_run(forward),
        backward=find_run(backward),
        keep=keep,
        output=output,
    )
    _fetch(screen, job.config.data)
    with screen.bar("loading the models") as show:
        reports = job.run(show, device=device, threads=threads, on_warning=screen.warn)
    print_tables(data_tables(reports))
    screen.say(f"clean pairs: {output}")


def _fetch(screen: Screen, data: DataConfig) -> None:
    """Download the pairs of a config, unless they are there."""
    if data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show:
        fetch_data(data, show)


def lexicon(
    screen: Screen,
    pairs: Annotated[list[Path], typer.Option("--pairs", "-p", metavar="FILE")],
    dictionary: Annotated[Path, typer.Option("--dictionary", "-d", metavar="FILE")],
    output_file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE")],
    source_text: Annotated[Path | None, typer.Option("--source-text", metavar="FILE")] = None,
    target_text: Annotated[Path | None, typer.Option("--target-text", metavar="FILE")] = None,
    parts_of_speech: Annotated[list[str] | None, typer.Option("--part", metavar="NAME")] = None,
    max_count: Annotated[int, typer.Option(min=0, metavar="N")] = 50,
    per_word: Annotated[int, typer.Option(min=1, metavar="N")] = 10,
    min_similarity: Annotated[float, typer.Option(min=0, max=1, metavar="X")] = 0.22,
    seed: Annotated[int, typer.Option(metavar="N")] = 0,
) -> None:
    """Write sentence pairs for the rare words of a dictionary, to train on: lexicon augmentation.

    In pairs with a frequent word and its translation, both are replaced by a rare entry of the dictionary of
    the same part of speech, whose translation is used in similar contexts, and that agrees with the words
    before it (Fadaee et al. 2017). The third column of the output is the similarity. Name the file in
    data.train.

    Example: ptenmt lexicon --pairs talks.tsv --dictionary words.tsv --target-text mono.en.gz -o rare.tsv.gz

    Args:
        pairs: A file of sentence pairs, .tsv or .csv, .gz too; repeat it for more.
        dictionary: Word, translation and part of speech a line, separated by tabs; .gz too.
        output_file: The pairs, written whole or not at all: .tsv or .tsv.gz.
        source_text: Plain text of the source language, which shows what the words agree with.
        target_text: Plain text of the target language, which shows what the words agree with and are like.
        parts_of_speech: Replace words of this part of speech, as the dictionary names it; n by default.
        max_count: A word is rare up to this number of occurrences in the pairs.
        per_word: Write up to N pairs for a word and a translation of it.
        min_similarity: Least similarity of the two translations, between 0 and 1.
        seed: Choose among equally similar words at random with this seed.
    """
    options.require_pairs_file(output_file)
    entries = read_dictionary(dictionary)
    frames = [pair for file in pairs for pair in read_pairs(CorpusFile(path=str(file)))]
    texts: list[Iterable[str]] = [read_lines(file) if file else () for file in (source_text, target_text)]
    words = Lexicon(frames, entries, (texts[0], texts[1]), parts_of_speech or ["n"])
    num_pairs = 0
    with written_whole(output_file) as stream:
        for source, target, similarity in words.pairs(max_count, per_word, min_similarity, seed):
            stream.write(f"{source}\t{target}\t{similarity:g}\n")
            num_pairs += 1
    screen.say(f"{counted(num_pairs, 'pair')} for rare words: {output_file}")
