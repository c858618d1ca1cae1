"""A translator that is a TensorFlow graph: strings in, strings out."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ptenmt.config import Config
from ptenmt.export.graph.search import Best, best_translations, likeliest
from ptenmt.export.graph.text import Words, graph_tokenizer, prepared, without_framing
from ptenmt.export.graph.writing import written
from ptenmt.model import DecoderState, Transformer
from ptenmt.tokenizers import END, PAD, START, UNK, TokenizerPair, forbidden

_FRAME_LENGTH = 2


class GraphTranslator(tf.Module):
    """Translates as the Keras engine does.

    Args:
        model: Built. Its layers are called while the graph is made; the graph keeps its variables alone.
        tokenizers: Of both languages.
        config: The run's options.
    """

    def __init__(self, model: Transformer, tokenizers: TokenizerPair, config: Config) -> None:
        super().__init__(name="translator")
        self._weights = [variable.value for variable in model.variables]
        # Methods, not the model: what Keras knows of a model has no place in a graph for serving.
        self._start, self._decode_step, self._attention = model.start, model.decode_step, model.attention
        self._config = config
        self._forbidden = forbidden(config.tokenizer)
        self._source = graph_tokenizer(tokenizers.source)
        self._target = self._source if tokenizers.shared else graph_tokenizer(tokenizers.target)
        self._source_pieces, self._target_pieces = (
            tf.constant(tokenizer.pieces(range(tokenizer.vocabulary_size)))
            for tokenizer in (tokenizers.source, tokenizers.target)
        )
        self._search = _compiled(self._found, tf.TensorSpec([None, None], tf.int64))
        text = tf.TensorSpec([None], tf.string, name="text")
        self.translate = _compiled(self._translate, text)
        self.explain = _compiled(self._explain, text)

    def _translate(self, text: Any) -> dict[str, Any]:
        """Translate sentences [B].

        Returns:
            ``translation`` [B], ``score`` float32 [B], and ``is_complete`` [B]: whether the source was read
            to its end, and the translation's end came before the limit.
        """
        source, is_whole = self._read(text)
        return self._told(text, source, is_whole, self._search(source))

    def _explain(self, text: Any) -> dict[str, Any]:
        """Translate sentences [B], and tell who attended to whom.

        Returns:
            What ``translate`` gives; ``source_pieces`` [B, S] and ``target_pieces`` [B, T], padded with
            [PAD]; the weights by name: ``encoder_layer{i}`` [B, H, S, S], ``decoder_layer{i}_block1`` [B, H,
            T, T] and ``decoder_layer{i}_block2`` [B, H, T, S].
        """
        source, is_whole = self._read(text)
        best = self._search(source)
        fed = _fed(best.ids)
        return {
            **self._told(text, source, is_whole, best),
            "source_pieces": tf.gather(self._source_pieces, source),
            "target_pieces": tf.gather(self._target_pieces, fed),
            **self._attention(source, fed),
        }

    def _read(self, text: Any) -> tuple[Any, Any]:
        """Texts [B] -> ids [B, S], framed and padded, and whether nothing had to be left out [B]."""
        longest = self._config.model.max_positions
        ids = self._source.encode(prepared(text, self._config.data))
        is_whole = ids.row_lengths() <= longest - _FRAME_LENGTH
        marks = tf.ones([tf.shape(text)[0], 1], tf.int64)
        framed = tf.concat([marks * START, ids[:, : longest - _FRAME_LENGTH], marks * END], axis=1)
        ids = framed.to_tensor(PAD)
        missing = tf.maximum(_FRAME_LENGTH - tf.shape(ids)[1], 0)  # if there are no texts
        return tf.pad(ids, [[0, 0], [0, missing]], constant_values=PAD), is_whole

    def _found(self, source: Any) -> Best:
        """The best translations of ids [B, S]; a function of its own, so that both signatures share it."""
        lengths = _lengths(source)
        limits = tf.zeros_like(lengths) + self._config.decoding.limit(lengths)
        return best_translations(
            self._next_tokens,
            self._start(source),
            tf.minimum(limits, self._config.model.max_positions),
            lengths == _FRAME_LENGTH,
            self._config.decoding,
        )

    def _next_tokens(self, tokens: Any, state: DecoderState, count: Any) -> tuple[Any, Any, DecoderState]:
        logits, state = self._decode_step(tokens, state)
        return *likeliest(logits, self._forbidden, count), state

    def _told(self, text: Any, source: Any, is_whole: Any, best: Best) -> dict[str, Any]:
        is_blank = _lengths(source) == _FRAME_LENGTH
        has_ended = tf.reduce_any(best.ids == END, axis=1)
        return {
            "translation": written(self._worded(text, source, best.ids), self._config),
            "score": tf.cast(tf.where(is_blank, tf.zeros_like(best.scores), best.scores), tf.float32),
            "is_complete": is_whole & (has_ended | is_blank),
        }

    def _worded(self, text: Any, source: Any, ids: Any) -> Any:
        """The ids' text [B]; a word that the target language's vocabulary lacks is copied from the source."""
        if not isinstance(self._source, Words):
            return self._target.decode(without_framing(ids))
        words = self._source.split(prepared(text, self._config.data))
        longest = tf.shape(source)[1] - _FRAME_LENGTH
        name = f"decoder_layer{self._config.model.num_layers}_block2"
        weights = tf.reduce_mean(self._attention(source, _fed(ids))[name], axis=1)  # -> [B, T, S]
        # [END] is masked, but there: where all texts are blank, nothing else is.
        lengths = tf.minimum(words.row_lengths(), tf.cast(longest, tf.int64))
        within = tf.sequence_mask(lengths, longest + 1)
        nearest = tf.argmax(tf.where(within[:, None], weights[:, :, 1:], -1.0), axis=2)
        padded = words.to_tensor("", shape=[None, None])
        copies = tf.gather(tf.pad(padded, [[0, 0], [0, 1]]), nearest, batch_dims=1)  # [B, T]
        pieces = tf.gather(self._target_pieces, ids[:, 1:])
        has_copy = (ids[:, 1:] == UNK) & (words.row_lengths() > 0)[:, None]
        shown = tf.where(has_copy, copies[:, : tf.shape(ids)[1] - 1], pieces)
        is_text = (ids[:, 1:] != PAD) & (ids[:, 1:] != END)
        return tf.strings.reduce_join(tf.ragged.boolean_mask(shown, is_text), axis=-1, separator=" ")


def _compiled(function: Callable[[Any], Any], argument: Any) -> Any:
    """A function as a graph; all of it is in TensorFlow's words, so that no Python is to be rewritten."""
    return tf.function(function, input_signature=[argument], autograph=False)


def _fed(ids: Any) -> Any:
    """What was fed to the decoder to generate ids [B, t] -> [B, t - 1], all but the last of each, padded."""
    fed = tf.where(tf.sequence_mask(_lengths(ids) - 1, tf.shape(ids)[1]), ids, PAD)
    return fed[:, : tf.maximum(tf.shape(ids)[1] - 1, 1)]


def _lengths(ids: Any) -> Any:
    """How many of ids [B, t] are no padding -> int32 [B]."""
    return tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1)
