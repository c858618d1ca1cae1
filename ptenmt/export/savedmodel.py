"""SavedModel export: a greedy translator as one TensorFlow graph, text in, text out.

Texts are in the form of the training corpus. The graph contains TensorFlow Text's own tokenizers, but not
ptenmt's pre-processing of typed text (lower-casing, splitting off punctuation) and its post-processing of
translations (detokenizing, copying unknown words).

Letters: B sentences, S source tokens, T target tokens, H heads, V target vocabulary.
"""

import zlib
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text

from ptenmt.atomic_files import temporary_folder
from ptenmt.config import Config
from ptenmt.errors import OutputError
from ptenmt.model.transformer import Transformer
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, PAD, START, UNK, Tokenizer, TokenizerPair, suppressed_ids
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer

_NUM_FRAME_TOKENS = 2  # [START] and [END]
_BLANK = r"[\pZ\x00-\x1f\x7f-\x9f]"
_INVISIBLE = r"[\x{ad}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{e000}-\x{f8ff}]"


def savedmodel_files(trained: TrainedModel) -> dict[str, bytes]:
    """Compile a translator into a SavedModel: its files by their paths in it. Raises OutputError.

    ``decoding.max_length`` and ``decoding.length_penalty`` of the run's config apply.
    """
    translator = GreedyGraph(trained.keras_model, trained.tokenizers, trained.config)
    with temporary_folder() as folder:
        try:
            tf.saved_model.save(translator, str(folder), signatures=translator.translate)
        except tf.errors.OpError as error:
            raise OutputError(f"cannot write into {folder.parent}: {error}") from error
        files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def _compiled(argument: tf.TensorSpec) -> Any:
    # All control flow is TensorFlow's already: autograph would only rewrite Keras' Python code.
    return tf.function(input_signature=[argument], autograph=False)


class GreedyGraph(tf.Module):
    """A greedy translator whose methods are TensorFlow graphs; of the model it keeps only the variables."""

    def __init__(self, model: Transformer, tokenizers: TokenizerPair, config: Config) -> None:
        super().__init__(name="translator")
        self._weights = [variable.value for variable in model.variables]
        # Bound methods, because an attribute that is the model would save Keras' own metadata as well.
        self._start, self._decode_step = model.start, model.decode_step
        self._decoding, self._max_positions = config.decoding, config.model.max_positions
        ids = np.arange(tokenizers.target.vocabulary_size)
        self._is_suppressed = np.isin(ids, suppressed_ids(config.tokenizer))
        self._source = _graph_tokenizer(tokenizers.source)
        self._target = self._source if tokenizers.shared else _graph_tokenizer(tokenizers.target)

    @_compiled(tf.TensorSpec([None], tf.string, name="text"))
    def translate(self, text: Any) -> dict[str, Any]:
        """Translate sentences [B] to ``translation`` [B], ``score`` float32 [B] and ``is_complete`` bool [B].

        It is not complete if the source was truncated, or the translation reached its limit before [END].
        """
        source, is_whole = self._encode(text)
        return self._outputs(source, is_whole, *self._search(source))

    def _encode(self, text: Any) -> tuple[Any, Any]:
        """Encode texts [B] as padded ids [B, S] with [START] and [END]; [B]: which are not truncated."""
        ids = self._source.encode(tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace"))
        max_tokens = self._max_positions - _NUM_FRAME_TOKENS
        mark = tf.ones([tf.shape(text)[0], 1], tf.int64)
        framed = tf.concat([mark * START, ids[:, :max_tokens], mark * END], axis=1)
        return framed.to_tensor(PAD, shape=[None, None]), ids.row_lengths() <= max_tokens

    @_compiled(tf.TensorSpec([None, None], tf.int64))
    def _search(self, source: Any) -> tuple[Any, Any]:
        """Take the most probable token at each step until every sentence has ended, from source ids [B, S].

        Returns ids [B, t], [START] first, [END] last if it was reached, then [PAD]; and scores, float32 [B]:
        the sum of log-probabilities over the number of tokens ** ``length_penalty``.
        """
        lengths = _lengths(source)
        max_lengths = tf.zeros_like(lengths) + self._decoding.max_length_for(lengths)
        limits = tf.minimum(max_lengths, self._max_positions)
        state = self._start(source)

        def step(ids: Any, totals: Any, is_running: Any, past: Any) -> tuple[Any, Any, Any, Any]:
            fed = tf.where(is_running, ids[:, -1], END)
            logits, new_state = self._decode_step(fed, state._replace(past=past))
            logits = tf.where(self._is_suppressed, -np.inf, tf.cast(logits, tf.float32))  # [B, V]
            tokens = tf.where(is_running, tf.argmax(logits, axis=1), PAD)
            log_probs = tf.reduce_max(logits, axis=1) - tf.reduce_logsumexp(logits, axis=1)
            totals += tf.where(is_running, log_probs, 0.0)
            ids = tf.concat([ids, tokens[:, None]], axis=1)
            is_running &= (tokens != END) & (tf.shape(ids)[1] <= limits)
            return ids, totals, is_running, new_state.past

        first = (
            source[:, :1],  # [START]
            tf.zeros_like(lengths, tf.float32),
            lengths > _NUM_FRAME_TOKENS,
            state.past,
        )
        shapes = tf.nest.map_structure(lambda tensor: tensor.shape, first[1:3])
        caches = tf.nest.map_structure(  # keys and values [B, H, T, K] of any T
            lambda cache: tf.TensorShape([None, cache.shape[1], None, cache.shape[3]]), state.past
        )
        ids, totals, *_ = tf.while_loop(
            lambda _ids, _totals, is_running, _past: tf.reduce_any(is_running),
            step,
            first,
            shape_invariants=(tf.TensorShape([None, None]), *shapes, caches),
        )
        num_generated = tf.cast(tf.maximum(_lengths(ids) - 1, 1), tf.float32)
        return ids, totals / num_generated**self._decoding.length_penalty

    def _outputs(self, source: Any, is_whole: Any, ids: Any, scores: Any) -> dict[str, Any]:
        is_text = (ids != PAD) & (ids != START) & (ids != END)
        has_ended = tf.reduce_any(ids == END, axis=1) | (_lengths(source) == _NUM_FRAME_TOKENS)
        return {
            "translation": self._target.decode(tf.ragged.boolean_mask(ids, is_text)),
            "score": scores,
            "is_complete": is_whole & has_ended,
        }


def _lengths(ids: Any) -> Any:
    """Numbers of tokens in padded ids [B, T]: int32 [B]."""
    return tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1)


def _graph_tokenizer(tokenizer: Tokenizer) -> Any:
    """A module that encodes texts [B] as ids [B, ragged], and decodes such, without [START] and [END]."""
    graphs = {"sentencepiece": _GraphSentencePiece, "wordpiece": _GraphWordPiece}
    graph: Any = graphs[tokenizer.kind]
    return graph(tokenizer)


class _GraphSentencePiece(tf.Module):
    def __init__(self, tokenizer: SentencePieceTokenizer) -> None:
        super().__init__()
        # TensorFlow shares resources by name, even between SavedModels: the name identifies the model.
        self._tokenizer = tensorflow_text.SentencepieceTokenizer(
            tokenizer.model, out_type=tf.int32, name=f"sentencepiece_{zlib.crc32(tokenizer.model):08x}"
        )

    def encode(self, texts: Any) -> Any:
        return tf.cast(self._tokenizer.tokenize(_cleaned(texts)), tf.int64)

    def decode(self, ids: Any) -> Any:
        return self._tokenizer.detokenize(tf.cast(ids, tf.int32))


class _GraphWordPiece(tf.Module):
    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        super().__init__()
        tokens = tf.constant(tokenizer.vocabulary)
        entries = tf.lookup.KeyValueTensorInitializer(tokens, tf.range(len(tokens), dtype=tf.int64))
        self._table = tf.lookup.StaticHashTable(entries, default_value=UNK)
        self._tokenizer = tensorflow_text.BertTokenizer(self._table, lower_case=True)

    def encode(self, texts: Any) -> Any:
        return self._tokenizer.tokenize(texts).merge_dims(-2, -1)

    def decode(self, ids: Any) -> Any:
        return tf.strings.reduce_join(self._tokenizer.detokenize(ids), axis=-1, separator=" ")


def _cleaned(texts: Any) -> Any:
    """``tokenizers.base.clean_text`` in a graph."""
    texts = tensorflow_text.normalize_utf8(texts, "NFC")
    return tf.strings.regex_replace(tf.strings.regex_replace(texts, _BLANK, " "), _INVISIBLE, "")
