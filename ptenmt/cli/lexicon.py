"""``ptenmt lexicon``."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.atomic_files import written_whole
from ptenmt.cli.console import Screen
from ptenmt.cli.formatting import counted
from ptenmt.config import CorpusFile
from ptenmt.data.lexicon import Lexicon, read_dictionary
from ptenmt.data.readers import read_lines, read_pairs
from ptenmt.errors import OutputError


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
    if not output_file.name.lower().endswith((".tsv", ".tsv.gz")):
        raise OutputError(f"--output {output_file} must end in .tsv or .tsv.gz")
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
