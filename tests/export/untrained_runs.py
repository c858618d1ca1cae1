"""Runs of untrained models, with any kind of tokenizer."""

from collections.abc import Sequence
from pathlib import Path

from random_models import write_run

from ptenmt.config import Config, DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.model.ctranslate2_model import convert
from ptenmt.runs import History, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import SPECIAL_PIECES, TokenizerPair, build_tokenizers
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer
from ptenmt.translation import Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

PAIRS = [
    ("O gato não vê o cão da vizinha.", "The cat doesn't see the neighbour's dog."),
    ("Quem és tu, e que fazes aqui?", "Who are you, and what are you doing here?"),
    ("A avó ouve música à noite.", "Grandmother listens to music at night."),
    ("Isto custa 3,50 € (três euros e meio).", 'It costs €3.50 ("three and a half").'),
    ("Os pássaros cantam já; é manhã!", "The birds are singing already; it's morning!"),
]
DECODING = DecodingConfig(beam_size=3, max_length=12)
MODEL = ModelConfig(encoder_layers=2, decoder_layers=1, d_model=16, num_heads=2, d_ff=24, max_positions=40)


def tokenizers(kind: str, symbols: Sequence[str] = (), **options: object) -> TokenizerPair:
    if kind != "wordpiece":
        options = {"vocabulary_size": 130} | options
        config = TokenizerConfig(kind=kind, **options)  # type: ignore[arg-type]
        return build_tokenizers(config, PAIRS, ("pt", "en"), symbols)
    letters = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789.,;:!?()'\"-€"))
    words = ["the", "cat", "is", "n", "##ight", "it", "s", "t", "gato", "nao", "##ao", "and"]
    pieces = [*SPECIAL_PIECES, *dict.fromkeys([*letters, *(f"##{letter}" for letter in letters), *words])]
    vocabulary = "".join(f"{piece}\n" for piece in pieces).encode()
    return TokenizerPair(WordPieceTokenizer("pt", vocabulary), WordPieceTokenizer("en", vocabulary))


def untrained_run(folder: Path, config: Config, pair: TokenizerPair) -> Run:
    """A run with one checkpoint of random weights, which was scored."""
    train, test = {"pairs": 5, "fingerprint": "0123456789abcdef"}, {"pairs": 2, "fingerprint": "f"}
    # With the [END] of a random model most translations would be empty.
    facts = {"data": {"train": train, "test": test}}
    run = write_run(folder, config, pair, facts, -4.0, step=7, score=12.34, loss=2.0)
    for step, bleu in ((7, 12.34), (9, 11.0)):
        scores = {"bleu": bleu, "chrf": 30.21, "loss": 2.0, "accuracy": 0.5}
        History(run.path).add({"epoch": 1, "step": step, "validation": scores})
    return run


def float32_translator(run: Run) -> Translator:
    """By CTranslate2 in float32, which has all options of the search."""
    trained = TrainedModel.load(run)
    converted = convert(trained.config.model, trained.weights, trained.tokenizers, "", "float32")
    engine = CTranslate2Engine(converted, trained.tokenizers, with_unknown=False, threads=1)
    return Translator(engine, trained.tokenizers, trained.config)
