"""The options of the sections data and tokenizer: what the model reads."""

from dataclasses import dataclass
from typing import Literal

from ptenmt.config.options import location, require, resumable, storage

TOKENIZER_URL = (
    "https://storage.googleapis.com/download.tensorflow.org/models/ted_hrlr_translate_pt_en_converter.zip"
)


@dataclass(frozen=True, kw_only=True)
class CorpusFile:
    """One source of sentence pairs: a two-column file, or two aligned text files."""

    path: str | None = location()
    """A ``.tsv`` or ``.csv`` file, plain or ``.gz``: source sentence, target sentence."""
    source: str | None = location()
    """A text file with a source sentence a line (instead of ``path``, together with ``target``)."""
    target: str | None = location()
    """A text file whose n-th line translates the n-th line of ``source``."""
    repeat: int = 1
    """How often an epoch goes through this file."""

    def __post_init__(self) -> None:
        aligned = self.source is not None and self.target is not None
        one_sided = (self.source is None) != (self.target is None)
        require(
            not one_sided and aligned != (self.path is not None),
            "a corpus file is either {path: pairs.tsv} or {source: lines.pt, target: lines.en}; "
            f"got path={self.path}, source={self.source}, target={self.target}",
        )
        require(self.repeat >= 1, f"repeat={self.repeat} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Where the sentence pairs come from, and what is done to their text."""

    source: Literal["tfds", "files", "demo"] = "tfds"
    """``tfds``: a TensorFlow Datasets corpus; ``files``: your own; ``demo``: the bundled one. Where ``path``
    or ``train`` names files, it is ``files``."""
    dataset: str = "ted_hrlr_translate/pt_to_en"
    """The TFDS name (source ``tfds``); its sister pairs and reverse directions work too."""
    data_dir: str | None = storage()
    """The TFDS folder; by default TFDS's own, ``~/tensorflow_datasets``."""
    archive_url: str | None = resumable(None)
    """A mirror of the TED archive; by default the address that TFDS knows."""
    path: str | None = location()
    """One file of pairs, off which validation and test pairs are split; or the text of a next-word model."""
    train: tuple[CorpusFile, ...] = resumable(())
    """The training files (instead of ``path``)."""
    validation: tuple[CorpusFile, ...] = resumable(())
    """The validation files; without them pairs are split off the training pairs."""
    test: tuple[CorpusFile, ...] = resumable(())
    """The test files; without them pairs are split off the training pairs."""
    validation_pairs: int = 500
    """How many pairs are split off for validation, a tenth of all at most."""
    test_pairs: int = 500
    """How many pairs are split off for the test, a tenth of all at most."""
    hold_out: bool = True
    """Whether validation and test pairs that have no files of their own are split off the training pairs
    (source ``files``). If not, every pair is trained on, and validated and tested on as well: to learn a few
    by heart."""
    limit: int | None = None
    """Train on the first so many pairs only."""
    source_language: str = "pt"
    """The language translated from: its ISO 639-1 code, such as ``pt``, or a name."""
    target_language: str = "en"
    """The language translated into, likewise."""
    tokenization: Literal["none", "given", "moses"] | None = None
    """``given``: the corpus comes with words and punctuation apart (as TED does); ``moses``: split
    them with the Moses tokenizer; ``none``: plain text, left as it is. By default ``given`` for
    source ``tfds`` and ``none`` for the others."""
    lowercase: bool = False
    """Lower-case both sides."""
    normalization: Literal["none", "NFC", "NFKC"] = "none"
    """Unicode normalisation form of both sides."""
    max_words: int | None = None
    """Drop training pairs with more blank-separated words than this on either side."""
    max_length_ratio: float | None = None
    """Drop training pairs in which one side has more than so many times the other's words."""
    deduplicate: bool = False
    """Drop training pairs that occurred before."""
    characters: int | None = None
    """Read the first so many characters of the text only (task ``next-word``)."""
    window: int = 20
    """How many words a next word is predicted from (task ``next-word``)."""
    stride: int = 1
    """A training window begins every so many words (task ``next-word``)."""
    short_windows: bool = False
    """Cut training windows to their last words, 1 to all of them by lot, anew in every epoch, so that short
    beginnings are learnt, too (task ``next-word``)."""
    cache_dir: str | None = storage()
    """Where prepared text, vocabularies and token ids are kept for the next training on the same pairs; by
    default ``tokens`` in the user's cache folder (Linux: ``~/.cache/ptenmt/tokens``)."""

    def __post_init__(self) -> None:
        require(
            not (self.path and self.train),
            f"data.path={self.path} and data.train exclude each other: "
            "data.path is the one-file form, its validation and test pairs are split off",
        )
        if self.path or self.train:
            object.__setattr__(self, "source", "files")
        if self.source == "files":
            require(bool(self.path or self.train), "data.source=files needs data.path or data.train")
        require(bool(self.dataset.strip()), "data.dataset is empty")
        self._check_languages()
        for name in ("limit", "max_words", "characters", "window", "stride"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"data.{name}={value} must be 1 or more")
        for name in ("validation_pairs", "test_pairs"):
            value = getattr(self, name)
            require(value >= 1, f"data.{name}={value} must be 1 or more")
        ratio = self.max_length_ratio
        require(ratio is None or ratio >= 1, f"data.max_length_ratio={ratio} must be 1 or more")

    def _check_languages(self) -> None:
        """Refuse a TFDS pair such as ``en_to_pt`` together with the languages of another."""
        names = self.dataset.rpartition("/")[2].split("_to_")
        if self.source != "tfds" or len(names) != 2:
            return
        languages = (self.source_language, self.target_language)
        # Some of TED's names join two related languages, such as glpt: Galician and Portuguese.
        fits = all(name.startswith(language) for name, language in zip(names, languages, strict=True))
        require(
            fits,
            f"data.dataset={self.dataset} does not go with data.source_language={languages[0]} and "
            f"data.target_language={languages[1]}",
        )


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """How sentences become ids."""

    kind: Literal["wordpiece", "sentencepiece", "words"] = "wordpiece"
    """``wordpiece``: the published Portuguese–English one; ``sentencepiece``: sub-words trained on the
    training pairs; ``words``: a vocabulary of whole words, for small runs to look at."""
    path: str | None = storage()
    """The published tokenizer's folder, when it is already on this machine (kind ``wordpiece``)."""
    url: str = resumable(TOKENIZER_URL)
    """Where the published tokenizer is downloaded from (kind ``wordpiece``)."""
    sha256: str | None = resumable(None)
    """The checksum that the downloaded tokenizer must have (kind ``wordpiece``)."""
    vocabulary_size: int = 8000
    """The most pieces or words a vocabulary holds, special tokens included (not ``wordpiece``)."""
    shared: bool = False
    """One vocabulary for both languages instead of one each (not ``wordpiece``; always, where next words are
    learnt)."""
    algorithm: Literal["unigram", "bpe"] = "unigram"
    """How SentencePiece finds its pieces."""
    punctuation: Literal["kept", "deleted", "space"] = "kept"
    """What becomes of punctuation marks (kind ``words``): each is a token; or they are ``deleted``, those
    that Unicode calls punctuation and ASCII's symbols, so that ``I'm`` is ``Im``; or ASCII's marks, all but
    the apostrophe, become a ``space``."""
    order: Literal["frequency", "appearance"] = "frequency"
    """How words get their ids (kind ``words``): the most frequent first, or as they appear in the training
    text. Which words a full vocabulary holds is up to their frequency either way."""
    training_sentences: int = 200_000
    """The most sentences that SentencePiece learns from, evenly spread over the pairs."""
    sampling: float = 0.0
    """Cut training sentences into other pieces in every epoch (kind ``sentencepiece``): ``unigram``'s alpha,
    the lower the wilder, 0.1 to 0.5 are usual; ``bpe``'s dropout, 0.1 is usual. 0: always the best pieces."""

    def __post_init__(self) -> None:
        size = self.vocabulary_size
        require(size >= 8, f"tokenizer.vocabulary_size={size} must be 8 or more")
        require(
            self.training_sentences >= 1,
            f"tokenizer.training_sentences={self.training_sentences} must be 1 or more",
        )
        require(0 <= self.sampling <= 1, f"tokenizer.sampling={self.sampling} must be between 0 and 1")
        require(
            not self.sampling or self.kind == "sentencepiece",
            f"tokenizer.sampling={self.sampling} does not go with tokenizer.kind={self.kind}: "
            "only sentencepiece has several ways to cut a word",
        )
        for name, usual in (("punctuation", "kept"), ("order", "frequency")):
            require(
                getattr(self, name) == usual or self.kind == "words",
                f"tokenizer.{name}={getattr(self, name)} does not go with tokenizer.kind={self.kind}: "
                "it is an option of whole words",
            )
        require(
            not (self.shared and self.kind == "wordpiece"),
            f"tokenizer.shared={self.shared} does not go with tokenizer.kind={self.kind}: "
            "the published tokenizer has a vocabulary per language",
        )
