"""Every option of ptenmt: one frozen dataclass per section of the YAML file.

An option exists once, here: its name, type, default, and under it what it means. A config is checked
when it is built, so the rest of the code never meets a wrong one.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ptenmt.errors import ConfigError

TOKENIZER_URL = (
    "https://storage.googleapis.com/download.tensorflow.org/models/ted_hrlr_translate_pt_en_converter.zip"
)


def _location(default: str | None = None) -> Any:
    """A file or folder, relative to the working folder; it is made absolute and may differ on resuming."""
    return field(default=default, metadata={"path": True, "resumable": True})


def _resumable(default: Any) -> Any:
    """An option that may differ when a run is resumed: the weights do not depend on it."""
    return field(default=default, metadata={"resumable": True})


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)


@dataclass(frozen=True, kw_only=True)
class CorpusFile:
    """One source of sentence pairs: a two-column file, or two aligned text files."""

    path: str | None = _location()
    """A ``.tsv`` or ``.csv`` file, plain or ``.gz``: source sentence, target sentence."""
    source: str | None = _location()
    """A text file with a source sentence a line (instead of ``path``, together with ``target``)."""
    target: str | None = _location()
    """A text file whose n-th line translates the n-th line of ``source``."""
    repeat: int = 1
    """How often an epoch goes through this file."""

    def __post_init__(self) -> None:
        aligned = self.source is not None and self.target is not None
        one_sided = (self.source is None) != (self.target is None)
        _require(
            not one_sided and aligned != (self.path is not None),
            "a corpus file is either {path: pairs.tsv} or {source: lines.pt, target: lines.en}; "
            f"got path={self.path}, source={self.source}, target={self.target}",
        )
        _require(self.repeat >= 1, f"repeat={self.repeat} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Where the sentence pairs come from, and what is done to their text."""

    source: Literal["tfds", "files", "demo"] = "tfds"
    """``tfds``: a TensorFlow Datasets corpus; ``files``: your own; ``demo``: the bundled one."""
    dataset: str = "ted_hrlr_translate/pt_to_en"
    """The TFDS name (source ``tfds``); its sister pairs and reverse directions work too."""
    data_dir: str | None = _location()
    """The TFDS folder; by default TFDS's own, ``~/tensorflow_datasets``."""
    archive_url: str | None = _resumable(None)
    """A mirror of the TED archive; by default the address that TFDS knows."""
    path: str | None = _location()
    """One file of pairs (source ``files``); validation and test pairs are split off it."""
    train: tuple[CorpusFile, ...] = _resumable(())
    """The training files (source ``files``, instead of ``path``)."""
    validation: tuple[CorpusFile, ...] = _resumable(())
    """The validation files; without them pairs are split off the training pairs."""
    test: tuple[CorpusFile, ...] = _resumable(())
    """The test files; without them pairs are split off the training pairs."""
    validation_pairs: int = 500
    """How many pairs are split off for validation, a tenth of all at most."""
    test_pairs: int = 500
    """How many pairs are split off for the test, a tenth of all at most."""
    limit: int | None = None
    """Train on the first so many pairs only."""
    source_language: str = "pt"
    """ISO 639-1 code of the language translated from."""
    target_language: str = "en"
    """ISO 639-1 code of the language translated into."""
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

    def __post_init__(self) -> None:
        _require(
            not (self.path and self.train),
            f"data.path={self.path} and data.train exclude each other: "
            "data.path is the one-file form, its validation and test pairs are split off",
        )
        if self.source == "files":
            _require(bool(self.path or self.train), "data.source=files needs data.path or data.train")
        _require(bool(self.dataset.strip()), "data.dataset is empty")
        self._check_languages()
        for name in ("limit", "max_words"):
            value = getattr(self, name)
            _require(value is None or value >= 1, f"data.{name}={value} must be 1 or more")
        for name in ("validation_pairs", "test_pairs"):
            value = getattr(self, name)
            _require(value >= 1, f"data.{name}={value} must be 1 or more")
        ratio = self.max_length_ratio
        _require(ratio is None or ratio >= 1, f"data.max_length_ratio={ratio} must be 1 or more")

    def _check_languages(self) -> None:
        """Refuse a TFDS pair such as ``en_to_pt`` together with the languages of another."""
        names = self.dataset.rpartition("/")[2].split("_to_")
        if self.source != "tfds" or len(names) != 2:
            return
        languages = (self.source_language, self.target_language)
        # Some of TED's names join two related languages, such as glpt: Galician and Portuguese.
        fits = all(name.startswith(language) for name, language in zip(names, languages, strict=True))
        _require(
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
    path: str | None = _location()
    """The published tokenizer's folder, when it is already on this machine (kind ``wordpiece``)."""
    url: str = _resumable(TOKENIZER_URL)
    """Where the published tokenizer is downloaded from (kind ``wordpiece``)."""
    sha256: str | None = _resumable(None)
    """The checksum that the downloaded tokenizer must have (kind ``wordpiece``)."""
    vocabulary_size: int = 8000
    """The most pieces or words a vocabulary holds, special tokens included (not ``wordpiece``)."""
    shared: bool = False
    """One vocabulary for both languages instead of one each (not ``wordpiece``)."""
    algorithm: Literal["unigram", "bpe"] = "unigram"
    """How SentencePiece finds its pieces."""

    def __post_init__(self) -> None:
        size = self.vocabulary_size
        _require(size >= 8, f"tokenizer.vocabulary_size={size} must be 8 or more")
        _require(
            not (self.shared and self.kind == "wordpiece"),
            f"tokenizer.shared={self.shared} does not go with tokenizer.kind={self.kind}: "
            "the published tokenizer has a vocabulary per language",
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The Transformer's sizes."""

    num_layers: int = 4
    """Blocks in the encoder, and as many in the decoder."""
    d_model: int = 128
    """Width of embeddings and of every block's output (D)."""
    num_heads: int = 8
    """Attention heads (H)."""
    d_ff: int = 512
    """Inner width of the feed-forward sub-layers (F)."""
    key_size: int | None = None
    """Width of a head's queries and keys; by default d_model / num_heads."""
    value_size: int | None = None
    """Width of a head's values; by default d_model / num_heads."""
    dropout: float = 0.1
    """Share of activations dropped after the embeddings and every sub-layer while training."""
    max_positions: int = 1000
    """The longest sequence in tokens; longer sentences are cut."""

    def __post_init__(self) -> None:
        for name in ("num_layers", "num_heads", "d_ff", "key_size", "value_size"):
            value = getattr(self, name)
            _require(value is None or value >= 1, f"model.{name}={value} must be 1 or more")
        _require(
            self.d_model >= 2 and self.d_model % 2 == 0,
            f"model.d_model={self.d_model} must be even and 2 or more",
        )
        _require(
            self.d_model % self.num_heads == 0 or None not in (self.key_size, self.value_size),
            f"model.d_model={self.d_model} is not divisible by model.num_heads={self.num_heads}",
        )
        _require(0 <= self.dropout < 1, f"model.dropout={self.dropout} must be at least 0 and below 1")
        _require(self.max_positions >= 4, f"model.max_positions={self.max_positions} must be 4 or more")


@dataclass(frozen=True, kw_only=True)
class BatchConfig:
    """How an epoch is cut into training steps."""

    sentences: int = 64
    """Sentence pairs a step, of any lengths; also how many are scored at a time."""
    tokens: int | None = None
    """Instead of ``sentences``: as many pairs of similar length a step as keep sentences × the longest
    side within this, which pads little and trains faster."""

    def __post_init__(self) -> None:
        _require(self.sentences >= 1, f"batch.sentences={self.sentences} must be 1 or more")
        tokens = self.tokens
        _require(tokens is None or tokens >= 1, f"batch.tokens={tokens} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long and how fast the model learns."""

    epochs: int = _resumable(20)
    """Passes over the training pairs, in all: a resumed run counts those before."""
    warmup_steps: int = 4000
    """Steps over which the learning rate climbs to its peak, d_model^-0.5 · warmup_steps^-0.5."""

    def __post_init__(self) -> None:
        _require(self.epochs >= 1, f"training.epochs={self.epochs} must be 1 or more")
        _require(self.warmup_steps >= 1, f"training.warmup_steps={self.warmup_steps} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """When the state of a training is written, and how many such states stay."""

    every_epochs: int = _resumable(5)
    """Save after every so many epochs (and always at the end)."""
    keep: int = _resumable(5)
    """How many checkpoints stay; older ones are deleted."""

    def __post_init__(self) -> None:
        for name in ("every_epochs", "keep"):
            value = getattr(self, name)
            _require(value >= 1, f"checkpoint.{name}={value} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How translations are searched for."""

    max_length: int | None = _resumable(None)
    """The most tokens generated, [END] counted; by default it grows with the source sentence."""

    def __post_init__(self) -> None:
        length = self.max_length
        _require(length is None or length >= 1, f"decoding.max_length={length} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class Config:
    """All options of a run."""

    seed: int = 42
    """The number that initial weights, dropout, the order of pairs and splits follow from."""
    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    batch: BatchConfig = BatchConfig()
    training: TrainingConfig = TrainingConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    decoding: DecodingConfig = DecodingConfig()

    def __post_init__(self) -> None:
        _require(0 <= self.seed < 2**31, f"seed={self.seed} must be at least 0 and below 2147483648")
        tokens, longest = self.batch.tokens, self.model.max_positions
        _require(
            tokens is None or tokens >= longest,
            f"batch.tokens={tokens} is less than model.max_positions={longest}: "
            "the longest sentence must fit into a batch",
        )


def config_folders() -> list[Path]:
    """Folders in which a config is looked up by name: the user's, then the installed presets."""
    package = Path(__file__).parent
    installed = package / "configs"
    return [Path("configs"), installed if installed.is_dir() else package.parent / "configs"]
