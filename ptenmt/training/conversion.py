"""What becomes of the best weights: converted for CTranslate2, with an alignment layer."""

from collections.abc import Callable, Sequence

from ptenmt.config import Config, DataConfig
from ptenmt.data.augmentation import NoisyTexts, tokenizer_symbols
from ptenmt.data.corpus import load_corpus
from ptenmt.data.readers import SentencePair
from ptenmt.errors import PtenmtError
from ptenmt.inspection.alignment import choose_layer
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.runs.weights import list_weights
from ptenmt.tokenizers import SPECIAL_PIECES, Tokenizer, load_tokenizers

_NUM_COUNTED_PAIRS = 200_000
_CHUNK_PAIRS = 1_000


def prepare_for_translating(
    config: Config, run: Run, warn: Callable[[str], None], *, counts_tokens: bool
) -> None:
    """Choose the layer of the best weights that aligns words, and convert them for CTranslate2.

    The layer is recorded in ``run.json``. If it ``counts_tokens``, so are the target tokens of a shared
    vocabulary, after a warm start with those of the other run if it recorded any. Errors are warnings: the
    run is trained.
    """
    candidates = list_weights(run.weights_folder, "best")
    if not candidates:
        return
    try:
        trained = TrainedModel(run, config, load_tokenizers(run.tokenizer_folder), candidates[0], warn)
        corpus = load_corpus(config.data, config.seed)
        run.record_alignment_layer(choose_layer(trained, corpus.validation))
        # The other run of a warm start has learnt tokens that a few pairs for fine-tuning may lack.
        inherited = run.recorded_ids("inherited_output_ids")
        is_known = inherited is not None or "initialized_from" not in run.facts()
        if counts_tokens and config.tokenizer.shared and is_known:
            ids = output_ids(trained.tokenizers.target, corpus.train, config.data)
            run.record_output_ids(ids.union(inherited or ()))
        if not why_not_ctranslate2(config.model):
            ctranslate2_model(trained)
    except PtenmtError as error:
        warn(f"cannot prepare the best weights for translating: {error.message}")


def output_ids(tokenizer: Tokenizer, train: Sequence[SentencePair], data: DataConfig) -> set[int]:
    """The tokens of a shared vocabulary that the training's targets have, with noise and without.

    Tokens of the other language alone cost time in search, and are wrong where it chooses them. Special
    tokens and symbols stay, and single characters, which spell what no other token can. Of a large corpus,
    evenly spaced pairs count.
    """
    symbols = set(tokenizer_symbols(data))
    ids = {
        token
        for token, piece in enumerate(tokenizer.vocabulary)
        if token < len(SPECIAL_PIECES) or piece in symbols or len(piece.removeprefix("▁")) <= 1
    }
    texts: list[Sequence[SentencePair]] = [train]
    if data.augment.is_used:
        texts.append(NoisyTexts(train, data))
    for pairs in texts:
        rows = range(0, len(pairs), max(1, len(pairs) // _NUM_COUNTED_PAIRS))
        for first in range(0, len(rows), _CHUNK_PAIRS):
            ids.update(*tokenizer.encode([pairs[row][1] for row in rows[first : first + _CHUNK_PAIRS]]))
    return ids
