"""Every option, once: a frozen dataclass per section of the YAML file.

Each option has its name, type, default and meaning here. A config is checked when it is built (ConfigError):
the rest of the code never sees an invalid one.
"""

import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from ptenmt.errors import ConfigError

TaskName = Literal["translation", "next-word"]
Tokenization = Literal["none", "given", "moses"]
SubwordAlgorithm = Literal["unigram", "bpe"]
Punctuation = Literal["kept", "deleted", "space"]
WordOrder = Literal["frequency", "appearance"]
NormPosition = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "swish", "swiglu"]
SourceMarks = Literal["both", "end", "none"]
Positions = Literal["sinusoidal", "none"]

MAX_ALTERNATIVES = 1000
"""A thousand next-token alternatives take a second; the time grows faster than their number."""
_LIMIT_STEP = 8


def require(condition: bool, message: str) -> None:
    """Raise a ConfigError with the message, which names the option and its value, unless ``condition``."""
    if not condition:
        raise ConfigError(message)


def _option(default: Any, **facts: Any) -> Any:
    """An option with limits that ``Section`` checks.

    They are ``least``, ``most``, ``is_positive``, ``is_share`` (below 1). Of a file or folder, ``path``,
    relative paths are made absolute; ``storage`` is a folder of this machine, without effect on results.
    """
    return field(default=default, metadata=facts)


def _resumable(default: Any, **facts: Any) -> Any:
    """An option that may differ when a run is resumed, because the weights do not depend on it."""
    return _option(default, resumable=True, **facts)


class Section:
    """A section of the config, whose options are checked when it is built."""

    _name = ""

    def __init_subclass__(cls, name: str) -> None:
        cls._name = name

    def __post_init__(self) -> None:
        for option in fields(self):  # type: ignore[arg-type]  # all sections are dataclasses
            value, facts = getattr(self, option.name), option.metadata
            if value is None:
                continue
            shown, least = f"{self._name}.{option.name}={value}", facts.get("least")
            require(least is None or value >= least, f"{shown} must be {least} or more")
            if "most" in facts:
                require(value <= facts["most"], f"{shown} must be at most {facts['most']:,}")
            require("is_positive" not in facts or value > 0, f"{shown} must be above 0")
            require("is_share" not in facts or 0 <= value < 1, f"{shown} must be at least 0 and below 1")


@dataclass(frozen=True, kw_only=True)
class CorpusFile:
    """One source of sentence pairs: a two-column file, two aligned text files, or a public corpus."""

    path: str | None = _resumable(None, path=True)
    """A ``.tsv`` file, plain or ``.gz``: source sentence, tab, target sentence."""
    source: str | None = _resumable(None, path=True)
    """A text file with one source sentence per line (instead of ``path``, together with ``target``)."""
    target: str | None = _resumable(None, path=True)
    """A text file whose n-th line translates the n-th line of ``source``."""
    corpus: str | None = None
    """A public corpus of OPUS by name and version, such as ``TED2020/v1`` (instead of ``path``), and where
    its languages are not the config's, those: ``OpenSubtitles/v2018/en-pt_br``."""
    limit: int | None = None
    """Read only this many pairs, evenly spaced over the file."""
    name: str | None = None
    """Its name in reports; by default the corpus, or the bare name of the file."""
    weight: float = 1.0
    """How often an epoch reads it: 2: every pair twice; 0.5: half of the pairs, the other half in the next
    epoch; 0: never, but the tokenizer is trained on it."""
    tag: str | None = None
    """A token before every source sentence, such as ``<bt>`` for back-translated text (Caswell et al. 2019);
    needs ``tokenizer.kind: sentencepiece``."""

    def __post_init__(self) -> None:
        options = ("path", "corpus", "source", "target")
        given = [option for option in options if getattr(self, option) is not None]
        require(
            given in (["path"], ["corpus"], ["source", "target"]),
            "a corpus file is {path: pairs.tsv}, {source: lines.pt, target: lines.en} or {corpus: NAME}; "
            f"it has {' and '.join(given) or 'none of these'}",
        )
        require(self.limit is None or self.limit >= 1, f"limit={self.limit} must be 1 or more")
        require(self.weight >= 0, f"weight={self.weight} must be 0 or more")
        require(
            self.tag is None or re.fullmatch(r"<[!-;=?-~]+>", self.tag) is not None,
            f"tag={self.tag!r} must be ASCII characters between < and >, without spaces, such as <bt>",
        )

    @property
    def label(self) -> str:
        """``name``, or the corpus, or the file's name without folder and endings."""
        file = Path(self.path or self.source or "").name.removesuffix(".gz")
        return self.name or self.corpus or Path(file).stem


@dataclass(frozen=True, kw_only=True)
class AugmentConfig(Section, name="data.augment"):
    """Noise in the training pairs, sampled in each epoch; each option is the share of pairs that get it.

    The target keeps the noise, except for typos. 0.05 to 0.1 each is usual.
    """

    upper_case: float = _option(0.0, is_share=True)
    """Both sides IN CAPITALS."""
    title_case: float = _option(0.0, is_share=True)
    """Both sides With Capitals At The Beginning Of Each Word."""
    lower_case: float = _option(0.0, is_share=True)
    """Both sides in lower case."""
    typos: float = _option(0.0, is_share=True)
    """Typing errors in the source: neighbours on the Portuguese keyboard, letters swapped, left out or
    doubled, lost accents."""
    drop_end_punctuation: float = _option(0.0, is_share=True)
    """Both sides without the full stop, question or exclamation mark at their end."""
    symbols: float = _option(0.0, is_share=True)
    """Both sides get emoji at an end, or quotation marks or brackets around a part (``sentencepiece``)."""
    placeholders: float = _option(0.0, is_share=True)
    """URLs, e-mail addresses, tags, codes, ``{name}``, ``%1$s``, ``#TAG#``, ``@user`` and emoji that stand on
    both sides are replaced by numbered symbols, so that a model learns to carry them over (needs
    ``sentencepiece``). 0.5 is usual, since few pairs have any; a fifth of the other pairs drawn get one to
    three symbols at gaps that are aligned."""
    quantities: float = _option(0.0, is_share=True)
    """Numbers, amounts, times, ordinals, weekdays and months that both sides have are drawn again, each
    written as its language writes it; numbers in words, too. 0.5 is usual, since few pairs
    have any."""
    names: float = _option(0.0, is_share=True)
    """A name of ``name_list`` that both sides have is replaced by another one."""
    name_list: str | None = _option(None, path=True)
    """A file of names, one on each line; a blank line ends a group, in which they may replace each other."""

    @property
    def is_used(self) -> bool:
        """Whether there is any noise."""
        return any(isinstance(share, float) and share > 0 for share in vars(self).values())

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not self.names or self.name_list is not None,
            f"data.augment.names={self.names} needs names: set data.augment.name_list",
        )


@dataclass(frozen=True, kw_only=True)
class FilterConfig(Section, name="data.filters"):
    """Which training pairs are removed; counts and examples are reported for each filter and file.

    Always removed are pairs with an empty side, and those with a sentence of the validation or test pairs.
    """

    max_words: int | None = _option(None, least=1)
    """Drop pairs with more words between spaces than this on either side; 100 to 150 is usual."""
    max_length_ratio: float | None = _option(None, least=1)
    """Drop pairs in which one side has more than this many times the other's words, characters and bytes; 3
    is usual."""
    max_word_length: int | None = _option(None, least=1)
    """Drop pairs with more letters and digits in a row than this; 40 is usual."""
    min_letters: float = _option(0.0, least=0, most=1)
    """Drop pairs with a side that has a lower share of letters (and characters beyond ASCII) than this,
    spaces aside; 0.4 to 0.5 is usual."""
    different_sides: bool = False
    """Drop pairs whose sides are identical, ignoring case."""
    right_language: bool = False
    """Drop pairs with a side that py3langid is sure is another language."""
    deduplicate: Literal["none", "exact", "near"] = "none"
    """Drop repeated pairs. ``near``: also those that differ in case, punctuation and spaces only."""
    unescape_html: bool = False
    """Replace HTML entities, such as ``&amp;quot;``, by the characters that they stand for, and remove
    invisible characters."""


@dataclass(frozen=True, kw_only=True)
class DataConfig(Section, name="data"):
    """Where the sentence pairs come from, and how their text is prepared and filtered."""

    source: Literal["tfds", "files", "demo", "imported"] = "tfds"
    """``tfds``: TED talks, by TensorFlow Datasets; ``files``: your own; ``demo``: the bundled one;
    ``imported``: unknown, those of an imported model. With ``path`` or ``train`` it is ``files``."""
    dataset: str = "ted_hrlr_translate/pt_to_en"
    """The TFDS name of TED's pairs (source ``tfds``); its sister pairs work too; for the other
    direction set ``reverse``."""
    data_dir: str | None = _resumable(None, path=True, storage=True)
    """The TFDS folder; by default TFDS's own, ``~/tensorflow_datasets``."""
    path: str | None = _resumable(None, path=True)
    """One file of pairs, from which validation and test pairs are split; or a next-word model's text."""
    train: tuple[CorpusFile, ...] = _resumable(())
    """The training files (instead of ``path``)."""
    validation: tuple[CorpusFile, ...] = _resumable(())
    """The validation files; by default pairs are split off the training pairs."""
    test: tuple[CorpusFile, ...] = _resumable(())
    """The test files; by default pairs are split off the training pairs."""
    validation_pairs: int = _option(500, least=1)
    """Pairs split off for validation, at most a tenth of all."""
    test_pairs: int = _option(500, least=1)
    """Pairs split off for testing, at most a tenth of all."""
    hold_out: bool = True
    """Split validation and test pairs without files of their own off the training pairs (source ``files``).
    If false, train, validate and test on the same pairs, to overfit a few on purpose."""
    source_language: str = "pt"
    """ISO 639-1 code of the source language, such as ``pt``, or a name."""
    target_language: str = "en"
    """ISO 639-1 code of the target language, or a name."""
    reverse: bool = False
    """Translate in the other direction: swap the two languages and the sides of every pair."""
    tokenization: Tokenization | None = None
    """``given``: the corpus has punctuation separated from words (as TED does); ``moses``: separate it with
    the Moses tokenizer; ``none``: leave plain text as it is. Default: ``given`` for source ``tfds``, else
    ``none``."""
    lowercase: bool = False
    """Lower-case both sides."""
    normalization: Literal["none", "NFC", "NFKC"] = "none"
    """Unicode normalization form of both sides."""
    filters: FilterConfig = FilterConfig()
    augment: AugmentConfig = AugmentConfig()
    characters: int | None = _option(None, least=1)
    """Read only the first N characters of the text (task ``next-word``)."""
    window: int = _option(20, least=1)
    """Context window: how many words the next one is predicted from (task ``next-word``)."""
    stride: int = _option(1, least=1)
    """Words between the starts of two training windows (task ``next-word``)."""
    cache_dir: str | None = _resumable(None, path=True, storage=True)
    """Where prepared text, vocabularies and token ids are cached for the next training on the same pairs; by
    default ``tokens`` in the user's cache folder (Linux: ``~/.cache/ptenmt/tokens``)."""

    def __post_init__(self) -> None:
        require(
            not (self.path and self.train),
            f"data.path={self.path} and data.train cannot be used together: "
            "data.path is one file, from which validation and test pairs are split off",
        )
        if self.path or self.train:
            object.__setattr__(self, "source", "files")
        if self.source == "files":
            require(bool(self.path or self.train), "data.source=files needs data.path or data.train")
        super().__post_init__()
        source, target = self.source_language, self.target_language
        names = self.dataset.rpartition("/")[2].split("_to_")
        # Some of TED's names join two related languages, such as glpt: Galician and Portuguese.
        require(
            self.source != "tfds"
            or len(names) != 2
            or (names[0].startswith(source) and names[1].startswith(target)),
            f"data.dataset={self.dataset} does not go with data.source_language={source} and "
            f"data.target_language={target}",
        )
        self._check_mixture()

    @property
    def languages(self) -> tuple[str, str]:
        """The language that is translated from and the one translated into, ``reverse`` considered."""
        languages = (self.source_language, self.target_language)
        return languages[::-1] if self.reverse else languages

    def _check_mixture(self) -> None:
        names = [file.label for file in self.train]
        for name in names:
            require(names.count(name) == 1, f"two files of data.train are named {name}: give one a name")
        require(
            not self.train or any(file.weight for file in self.train),
            "all files of data.train have weight=0, so that an epoch has no pair",
        )


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig(Section, name="tokenizer"):
    """How sentences become ids."""

    kind: Literal["wordpiece", "sentencepiece", "words", "imported"] = "wordpiece"
    """``wordpiece``: the published Portuguese–English one; ``sentencepiece``: sub-words trained on the
    training pairs; ``words``: a vocabulary of whole words, for small runs to inspect; ``imported``: that of
    the imported model that a training starts from (``--init-from``)."""
    path: str | None = _resumable(None, path=True, storage=True)
    """The published tokenizer's folder, if it is already on this machine (kind ``wordpiece``)."""
    vocabulary_size: int = _option(8000, least=8)
    """Maximum vocabulary size, special tokens included (not ``wordpiece``)."""
    shared: bool = False
    """Share one vocabulary between both languages (not ``wordpiece``; always so for task ``next-word``)."""
    algorithm: SubwordAlgorithm = "unigram"
    """How SentencePiece builds its vocabulary."""
    split_digits: bool = True
    """Every digit is a token of its own (kind ``sentencepiece``): numbers are then copied digit by digit."""
    character_coverage: float = _option(0.99999, least=0.98, most=1)
    """The share of the characters of the training sentences that have tokens (kind ``sentencepiece``). The
    others, the rarest, are [UNK]: a large corpus has 0.9999, so that no token is one that it hardly shows."""
    characters: str = ""
    """Characters that get a token even where the training sentences have them seldom, and spaces (kind
    ``sentencepiece``). Name only those that the training shows all the same, such as by generated pairs:
    other rare characters are [UNK], which the model copies; a token that it never saw means nothing to it."""
    punctuation: Punctuation = "kept"
    """Treatment of punctuation marks (kind ``words``). ``kept``: each is a token; ``deleted``: Unicode
    punctuation and ASCII symbols are removed, so that ``I'm`` is ``Im``; ``space``: ASCII marks except the
    apostrophe become spaces."""
    order: WordOrder = "frequency"
    """Order of ids (kind ``words``): the most frequent word first, or the order of appearance. A full
    vocabulary holds the most frequent words either way."""
    training_sentences: int = _option(200_000, least=1)
    """Maximum number of sentences that SentencePiece is trained on, evenly spaced over the pairs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not (self.shared and self.kind == "wordpiece"),
            f"tokenizer.shared={self.shared} does not go with tokenizer.kind={self.kind}: "
            "the published tokenizer has a vocabulary per language",
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Section, name="model"):
    """The Transformer's sizes and variants."""

    num_layers: int = _option(4, least=1)
    """Blocks in the encoder, and as many in the decoder, unless the next two options say otherwise."""
    encoder_layers: int | None = _option(None, least=1)
    """Blocks in the encoder; by default num_layers."""
    decoder_layers: int | None = _option(None, least=1)
    """Blocks in the decoder; by default num_layers. The decoder takes most of the time of a translation: a
    deep encoder with 1 or 2 decoder blocks translates faster than equal stacks (Kasai et al. 2021)."""
    d_model: int = _option(128, least=2)
    """Width of embeddings and of every block's output (D)."""
    num_heads: int = _option(8, least=1)
    """Attention heads (H)."""
    d_ff: int = _option(512, least=1)
    """Inner width of the feed-forward sub-layers (F)."""
    key_size: int | None = _option(None, least=1)
    """Width of a head's queries and keys; by default d_model / num_heads."""
    value_size: int | None = _option(None, least=1)
    """Width of a head's values; by default d_model / num_heads."""
    norm: NormPosition = "post"
    """Position of layer norms. ``post``: after each residual sum, as in the paper; ``pre``: before each
    sub-layer, and once more at the end of both stacks."""
    tied_embeddings: Literal["none", "target", "all"] = "none"
    """Tied embeddings (weight tying). ``target``: the decoder's embedding matrix is the output projection
    too; ``all``: it is also the encoder's (needs tokenizer.shared)."""
    activation: Activation = "relu"
    """Activation of the feed-forward sub-layers. ``gelu`` is the exact one (with the error function);
    ``swish`` is x · sigmoid(x); ``swiglu`` adds a third matrix of the same inner width d_ff."""
    norm_epsilon: float = _option(1e-6, is_positive=True)
    """Added to the variance in layer norms; 1e-5 in Marian's models."""
    source_marks: SourceMarks = "both"
    """Which marks around a source sentence the encoder reads. ``both``: [START] and [END]; ``end``: only
    [END], as Marian's models; ``none``: neither, as OpenNMT's."""
    dropout: float = _option(0.1, is_share=True)
    """Dropout rate after the embeddings and every sub-layer."""
    attention_dropout: float = _option(0.0, is_share=True)
    """Dropout rate of the attention weights."""
    activation_dropout: float = _option(0.0, is_share=True)
    """Dropout rate inside the feed-forward sub-layers."""
    word_dropout: float = _option(0.0, is_share=True)
    """Share of source and target tokens whose embedding is zeroed in training."""
    positions: Positions = "sinusoidal"
    """``none``: embeddings are neither scaled nor given a position, so that attention without a causal mask
    ignores word order."""
    prediction: Literal["pooled", "causal"] = "pooled"
    """Input of a next-word prediction. ``pooled``: the mean over all words of a window, which attend
    to each other; ``causal``: every word, which attends to itself and those before, so that a window of N
    words gives N predictions."""
    max_positions: int = _option(1000, least=4)
    """Maximum sequence length in tokens; longer sentences are truncated, and in translation split instead."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.d_model % 2 == 0, f"model.d_model={self.d_model} must be even")
        require(
            self.d_model % self.num_heads == 0 or None not in (self.key_size, self.value_size),
            f"model.d_model={self.d_model} is not divisible by model.num_heads={self.num_heads}",
        )

    @property
    def num_encoder_layers(self) -> int:
        """Blocks in the encoder."""
        return self.num_layers if self.encoder_layers is None else self.encoder_layers

    @property
    def num_decoder_layers(self) -> int:
        """Blocks in the decoder."""
        return self.num_layers if self.decoder_layers is None else self.decoder_layers


@dataclass(frozen=True, kw_only=True)
class BatchConfig(Section, name="batch"):
    """How an epoch is divided into training steps."""

    sentences: int = _option(64, least=1)
    """Batch size in sentence pairs of any length; also how many are scored at a time."""
    tokens: int | None = _option(None, least=1)
    """Batch size in tokens instead: pairs of similar length, up to number × padded length of the longer
    side. Less padding, faster training."""
    accumulate: int = _option(1, least=1)
    """Gradient accumulation: batches per update, for an effective batch that does not fit into memory."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(Section, name="training"):
    """Length of training, learning rate, and regularization of the loss."""

    epochs: int = _resumable(20, least=1)
    """Passes over the training pairs in total; a resumed run counts the earlier ones."""
    max_steps: int | None = _resumable(None, least=1)
    """End after this many updates in total, if the epochs have more. To pause a training, send a signal."""
    schedule: Literal["transformer", "inverse_sqrt", "cosine", "constant"] = "transformer"
    """Learning rate after the warm-up. ``transformer``: decay as 1/√step from a peak set by d_model and the
    warm-up; ``inverse_sqrt``: the same from ``learning_rate``; ``cosine``: half a cosine to 0 at the end of
    training (the last epoch, or ``max_steps``; resuming with another end changes the remaining rates);
    ``constant``."""
    learning_rate: float | None = _option(None, is_positive=True)
    """The peak; needed by every schedule but transformer, whose peak is (d_model · warm-up)^-0.5."""
    warmup_steps: int | None = _option(None, least=0)
    """Steps of linear warm-up to the peak; 4,000 unless ``warmup_fraction`` is given."""
    warmup_fraction: float | None = _option(None, least=0, most=1)
    """Warm-up as a share of all steps, instead of ``warmup_steps``; another end of training changes it."""
    label_smoothing: float = _option(0.0, is_share=True)
    """Label smoothing: probability mass ε spread evenly over the vocabulary (0.1 in Vaswani et al. 2017,
    section 5.4). The reported loss is without it."""
    deterministic: bool = False
    """Use only TensorFlow operations whose results are bitwise reproducible; slower."""
    log_every_steps: int = _resumable(50, least=1)
    """Write a point of the training curves into ``history.jsonl`` every N steps."""

    def __post_init__(self) -> None:
        super().__post_init__()
        has_own_peak = self.schedule == "transformer"
        require(
            not has_own_peak or self.learning_rate is None,
            f"training.learning_rate={self.learning_rate} does not go with training.schedule=transformer, "
            "which sets its own peak; inverse_sqrt has the same shape",
        )
        require(
            has_own_peak or self.learning_rate is not None,
            f"training.schedule={self.schedule} needs training.learning_rate, its peak",
        )
        if self.warmup_steps is None and self.warmup_fraction is None:
            object.__setattr__(self, "warmup_steps", 4000)
        steps, fraction = self.warmup_steps, self.warmup_fraction
        require(
            steps is None or fraction is None,
            f"training.warmup_steps={steps} and training.warmup_fraction={fraction} cannot be used together; "
            "one of them must be null",
        )
        require(
            bool(steps or fraction) or self.schedule in ("cosine", "constant"),
            f"training.schedule={self.schedule} needs training.warmup_steps or warmup_fraction above 0",
        )


@dataclass(frozen=True, kw_only=True)
class OptimizerConfig(Section, name="optimizer"):
    """How gradients update the weights."""

    kind: Literal["adam", "adamw"] = "adam"
    """Adam (Kingma & Ba 2015), or with decoupled weight decay (Loshchilov & Hutter 2019)."""
    beta_1: float = _option(0.9, is_share=True)
    """Decay rate of the first moment."""
    beta_2: float = _option(0.98, is_share=True)
    """Decay rate of the second moment."""
    epsilon: float = _option(1e-9, is_positive=True)
    """Added to the root of the second moment (ε̂ at the end of the Adam paper's section 2)."""
    weight_decay: float = _option(0.01, least=0)
    """Decoupled weight decay of matrices, times the learning rate (kind ``adamw``)."""
    clip_norm: float | None = _option(None, is_positive=True)
    """Clip gradients to this global norm."""
    ema: float = _option(0.0, is_share=True)
    """Decay of the EMA (exponential moving average) of the weights, such as 0.999 (at most (1 + n) / (10 + n)
    at update n). Validation and translation use the averaged weights. 0: off."""


@dataclass(frozen=True, kw_only=True)
class ValidationConfig(Section, name="validation"):
    """Frequency of validation, model selection and early stopping."""

    every_epochs: int | None = _resumable(1, least=1)
    """Validate after every N epochs (and at the end); null: not by epochs."""
    every_steps: int | None = _resumable(None, least=1)
    """Also validate after every N steps."""
    metric: Literal["bleu", "chrf", "loss"] = "bleu"
    """The score that selects the best checkpoint and drives early stopping; ties (such as a BLEU of 0 at
    first) go to the lower loss."""
    patience: int | None = _resumable(None, least=1)
    """Early stopping: end after this many validations in a row without a better score."""


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig(Section, name="checkpoint"):
    """Frequency and number of checkpoints."""

    every_epochs: int = _resumable(5, least=1)
    """Save after every N epochs (and always at the end)."""
    every_steps: int | None = _resumable(None, least=1)
    """Also save after every N steps."""
    every_minutes: float | None = _resumable(10.0, is_positive=True)
    """Also save when this many minutes have passed since the last save."""
    keep: int = _resumable(5, least=1)
    """Number of checkpoints to keep; older ones are deleted."""


NO_SAMPLING: dict[str, Any] = {"top_k": 1, "top_p": 1.0, "temperature": 1.0, "num_hypotheses": 1}
"""Options of ``DecodingConfig``: the best translation alone, by search."""


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(Section, name="decoding"):
    """How translations are generated: greedy search, beam search, or sampling."""

    max_length: int | None = _resumable(None, least=1)
    """Maximum number of generated tokens, [END] included; by default it grows with the source sentence. A
    translation that reaches it is truncated (``is_complete`` is False)."""
    beam_size: int = _resumable(4, least=1, most=1000)
    """Beam width (beam size): hypotheses kept per step; 1 is greedy search."""
    num_hypotheses: int = _resumable(1, least=1)
    """Translations returned per sentence, best first; at most ``beam_size``, unless tokens are sampled."""
    length_penalty: float = _resumable(1.0, least=0, most=10)
    """Length penalty (length normalization): a hypothesis' score is the sum of its tokens' log-probabilities
    / length ** this; above 0 favours longer ones."""
    repetition_penalty: float = _resumable(1.0, is_positive=True)
    """Divide the scores of tokens generated before by this (Keskar et al. 2019, section 4.1); 1: off."""
    no_repeat_ngram: int = _resumable(0, least=0)
    """Never generate an n-gram of this size twice; 0: off."""
    top_k: int = _resumable(1, least=0)
    """Sample each token from the K most probable (needs ``beam_size`` 1); 1: no sampling, 0: from all."""
    top_p: float = _resumable(1.0, is_positive=True, most=1)
    """Nucleus sampling: sample from the most probable tokens whose probabilities sum to this."""
    temperature: float = _resumable(1.0, least=1e-6)  # logits divided by less overflow
    """Divide the logits by this before sampling: below 1 sharpens the distribution, above 1 flattens it."""
    seed: int = _resumable(0, least=0, most=2**32 - 1)
    """Random seed for sampling."""
    split_sentences: bool = _resumable(True)
    """Translate texts sentence by sentence; if false, line by line. Scoring keeps a corpus's lines whole."""
    safeguards: bool = _resumable(True)
    """Keep URLs, codes, tags and their like as they are, translate capitals like ordinary text, and search
    once more what loops or reaches the length limit. If false, the model's own translations."""

    def __post_init__(self) -> None:
        super().__post_init__()
        beam, temperature = self.beam_size, self.temperature
        require(
            not self.is_sampled or beam == 1,
            f"decoding.top_k={self.top_k} samples tokens, which needs decoding.beam_size=1, not {beam}",
        )
        require(
            self.is_sampled or (self.top_p == 1 and temperature == 1),
            f"decoding.top_p={self.top_p} and decoding.temperature={temperature} need "
            "decoding.top_k=0 (sample from all tokens) or above 1",
        )
        require(
            self.num_hypotheses <= beam or self.is_sampled,
            f"decoding.num_hypotheses={self.num_hypotheses} must be at most decoding.beam_size={beam}",
        )

    @property
    def is_sampled(self) -> bool:
        """Whether tokens are sampled."""
        return self.top_k != 1

    def max_length_for(self, num_source_tokens: Any) -> Any:
        """Maximum number of generated tokens, [END] included, before ``model.max_positions`` limits it.

        By default it grows in steps, by 16 for every 8 source tokens (a number, or a TensorFlow tensor), so
        that sentences of similar length have the same limit and can be translated together.
        """
        if self.max_length is not None:
            return self.max_length
        return 2 * _LIMIT_STEP * -(-num_source_tokens // _LIMIT_STEP) + 20


@dataclass(frozen=True, kw_only=True)
class MachineConfig(Section, name="machine"):
    """Devices, precision and compilation of training."""

    strategy: Literal["auto", "single", "mirrored", "multi_worker"] = _resumable("auto")
    """``single``: one device; ``mirrored``: all GPUs of this machine; ``multi_worker``: several machines,
    named in TF_CONFIG; ``auto``: by what is available (docs/scaling.md)."""
    precision: Literal["float32", "mixed_bfloat16"] = "float32"
    """Compute precision of layers; weights, softmax, loss are float32."""
    xla: Literal["auto", "always", "never"] = _resumable("auto")
    """Compile the step with XLA, once for every shape of a batch; ``auto``: on a GPU with ``batch.tokens``,
    whose batches have few shapes."""
    threads: int | None = _resumable(None, least=1)
    """Compute threads; by default as many as this process may use cores."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """All options of a run."""

    task: TaskName = "translation"
    """``translation`` of sentences, or ``next-word`` prediction in a text."""
    seed: int = 42
    """Random seed of initial weights, dropout, the order of pairs, and splits."""
    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    batch: BatchConfig = BatchConfig()
    training: TrainingConfig = TrainingConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    validation: ValidationConfig = ValidationConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    decoding: DecodingConfig = DecodingConfig()
    machine: MachineConfig = MachineConfig()

    def __post_init__(self) -> None:
        is_next_word = self.task == "next-word"
        if is_next_word and self.tokenizer.kind == "words":  # input and output are words of one language
            object.__setattr__(self, "tokenizer", replace(self.tokenizer, shared=True))
        require(0 <= self.seed < 2**31, f"seed={self.seed} must be at least 0 and below 2147483648")
        option, longest = "model.max_positions", self.model.max_positions
        if is_next_word:
            option, longest = "data.window", self.data.window
        tokens = self.batch.tokens
        require(
            tokens is None or tokens >= longest,
            f"batch.tokens={tokens} is less than {option}={longest}: "
            "the longest sentence must fit into a batch",
        )
        tags = [file.tag for file in self.data.train if file.tag]
        require(
            not tags or self.tokenizer.kind == "sentencepiece",
            f"the tag {tags[0] if tags else ''} does not go with tokenizer.kind={self.tokenizer.kind}: "
            "only sentencepiece can have tokens of your own",
        )
        augment = self.data.augment
        require(
            self.tokenizer.kind == "sentencepiece" or not (augment.symbols or augment.placeholders),
            "data.augment.symbols and placeholders need tokens of their own, and "
            f"tokenizer.kind={self.tokenizer.kind} cannot have any; use sentencepiece",
        )
        require(
            self.model.tied_embeddings != "all" or self.tokenizer.shared or self.tokenizer.kind == "imported",
            "model.tied_embeddings=all does not go with tokenizer.shared=false: "
            "one embedding matrix needs one vocabulary",
        )
        if is_next_word:
            self._check_next_word()

    @property
    def has_lowercase_text(self) -> bool:
        """Whether the model's text is lower-case: by ``data.lowercase``, or like the published tokenizer."""
        return self.data.lowercase or self.tokenizer.kind == "wordpiece"

    def _check_next_word(self) -> None:
        kind, metric, model = self.tokenizer.kind, self.validation.metric, self.model
        window = self.data.window
        require(
            not self.data.train, "data.train names pairs, which task=next-word does not read: use data.path"
        )
        require(kind == "words", f"task=next-word needs tokenizer.kind=words, not {kind}")
        require(metric == "loss", f"task=next-word needs validation.metric=loss, not {metric}")
        require(
            model.tied_embeddings != "target",
            "model.tied_embeddings=target does not go with task=next-word: use all",
        )
        require(
            window <= model.max_positions,
            f"data.window={window} must be at most model.max_positions={model.max_positions}",
        )
