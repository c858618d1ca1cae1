"""A Transformer that translates Portuguese to English, whole, in one file: read it from top to bottom.

    pip install tensorflow keras numpy matplotlib sacrebleu
    python docs/tour/transformer.py            # trains for three minutes on 2 cores, then translates
    python docs/tour/transformer.py --base     # the tutorial's sizes: 4 layers, D = 128, 8 heads, F = 512

It follows "Attention Is All You Need" (Vaswani et al. 2017). On the demo corpus, 8,630 composed pairs of
short sentences, it ends after five minutes with a BLEU of about 95 (2 cores of an Intel Xeon; 2026-11).

Letters in shapes: B sentences of a batch, S source tokens, T target tokens, D width of the model, H attention
heads, K = D / H width of a head, F inner width of the feed-forward layers, V tokens of a vocabulary.
"""

import argparse
import gzip
import re
from collections import Counter
from pathlib import Path

import keras
import matplotlib.pyplot as plt
import numpy as np
import sacrebleu
from keras import layers, ops

CORPUS = Path(__file__).resolve().parents[2] / "ptenmt" / "data" / "demo.tsv.gz"
PAD, UNK, START, END = range(4)
NUM_POSITIONS = 1000


# 1. Text to ids: every word and mark is a token. ptenmt learns sub-words (ptenmt/tokenizers/).


def split(text):
    """The words and marks of a text, in lower case."""
    return re.findall(r"[\w'-]+|[^\w\s]", text.lower())


class Vocabulary:
    """The tokens of a language and their ids; the four special tokens come first."""

    def __init__(self, texts):
        counts = Counter(token for text in texts for token in split(text))
        self.tokens = ["[PAD]", "[UNK]", "[START]", "[END]", *(token for token, _ in counts.most_common())]
        self.ids = {token: number for number, token in enumerate(self.tokens)}

    def encode(self, text):
        """The ids of a text, [START] and [END] around them."""
        return [START, *(self.ids.get(token, UNK) for token in split(text)), END]

    def decode(self, ids):
        """The text of ids, without special tokens."""
        words = " ".join(self.tokens[number] for number in ids if number > END)
        return re.sub(r" ([.,!?;:])", r"\1", words)


def padded(rows):
    """Rows of ids as one array, filled up with [PAD] to the longest: int [B, S]."""
    return keras.utils.pad_sequences(rows, padding="post", value=PAD)


def batches(pairs, size, rng):
    """Random batches of encoded pairs: sources [B, S] and targets [B, T + 1].

    ptenmt batches sentences of similar length, which saves most of the padding (ptenmt/data/batches.py).
    """
    order = rng.permutation(len(pairs))
    for first in range(0, len(order), size):
        chosen = [pairs[row] for row in order[first : first + size]]
        yield padded([source for source, _ in chosen]), padded([target for _, target in chosen])


# 2. Masks say who may attend to whom: True where a query (row) sees a key (column).


def padding_mask(ids):
    """Every query sees the real tokens, and no padding: [B, S] -> [B, 1, 1, S]."""
    return ops.not_equal(ids, PAD)[:, None, None, :]


def causal_mask(length):
    """A token sees itself and those before it, not those that it must predict: [T, T]."""
    positions = ops.arange(length)
    return positions[:, None] >= positions[None, :]


# 3. The layers.


def positional_encoding(num_positions, width):
    """Sines and cosines of decreasing frequency, interleaved: [positions, D]."""
    angles = np.arange(num_positions)[:, None] / 10000 ** (np.arange(0, width, 2) / width)  # [P, D / 2]
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(num_positions, width).astype("float32")


class Embedding(layers.Layer):
    """Token vectors times √D, plus positions: without them a sentence would be a bag of words."""

    def __init__(self, num_tokens, width, dropout, name="embedding"):
        super().__init__(name=name)
        self.scale = width**0.5
        self.tokens = layers.Embedding(num_tokens, width, name="tokens")
        self.positions = positional_encoding(NUM_POSITIONS, width)
        self.dropout = layers.Dropout(dropout)

    def call(self, ids, training=False):
        x = self.tokens(ids) * self.scale  # [B, S, D]
        positions = ops.convert_to_tensor(self.positions)[: ops.shape(ids)[1]]  # [S, D]
        return self.dropout(x + positions, training=training)


def softmax(scores):
    """Positive weights that sum to 1 over the last axis; a score of -1e9 gets 0."""
    weights = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
    return weights / ops.sum(weights, axis=-1, keepdims=True)


class Attention(layers.Layer):
    """Multi-head attention: every query takes a weighted mean of the values whose keys are like it.

    ptenmt has the same layer with a key–value cache for translating (ptenmt/model/layers.py).
    """

    def __init__(self, width, num_heads, name):
        super().__init__(name=name)
        self.num_heads, self.head_width = num_heads, width // num_heads
        self.query, self.key, self.value, self.output_projection = (
            layers.Dense(width, name=name) for name in ("query", "key", "value", "output")
        )

    def heads(self, x):
        x = ops.reshape(x, (*ops.shape(x)[:2], self.num_heads, self.head_width))  # [B, T, H, K]
        return ops.transpose(x, (0, 2, 1, 3))  # [B, H, T, K]

    def call(self, queries, memory, mask):
        query = self.heads(self.query(queries))
        key = self.heads(self.key(memory))
        value = self.heads(self.value(memory))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / self.head_width**0.5  # [B, H, T, S]
        weights = softmax(ops.where(mask, scores, -1e9))  # a mask is the same for all heads
        mean = ops.transpose(ops.matmul(weights, value), (0, 2, 1, 3))  # [B, T, H, K]
        return self.output_projection(ops.reshape(mean, (*ops.shape(mean)[:2], -1))), weights


class FeedForward(layers.Layer):
    """Two dense layers, applied to each position by itself."""

    def __init__(self, width, inner_width, name="feed_forward"):
        super().__init__(name=name)
        self.expand = layers.Dense(inner_width, activation="relu", name="expand")
        self.contract = layers.Dense(width, name="contract")

    def call(self, x):
        return self.contract(self.expand(x))


class Block(layers.Layer):
    """A layer of the encoder, or, with cross-attention, of the decoder."""

    def __init__(self, sizes, has_memory, name):
        super().__init__(name=name)
        self.self_attention = Attention(sizes.width, sizes.num_heads, "self_attention")
        self.self_attention_norm = layers.LayerNormalization(epsilon=1e-6, name="self_attention_norm")
        self.cross_attention = None
        if has_memory:
            self.cross_attention = Attention(sizes.width, sizes.num_heads, "cross_attention")
            self.cross_attention_norm = layers.LayerNormalization(epsilon=1e-6, name="cross_attention_norm")
        self.feed_forward = FeedForward(sizes.width, sizes.inner_width)
        self.feed_forward_norm = layers.LayerNormalization(epsilon=1e-6, name="feed_forward_norm")
        self.dropout = layers.Dropout(sizes.dropout)

    def call(self, x, mask, memory=None, memory_mask=None, training=False):
        attended, self_weights = self.self_attention(x, x, mask)
        x = self.self_attention_norm(x + self.dropout(attended, training=training))
        cross_weights = None
        if self.cross_attention is not None:
            attended, cross_weights = self.cross_attention(x, memory, memory_mask)
            x = self.cross_attention_norm(x + self.dropout(attended, training=training))
        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x), training=training))
        return x, self_weights, cross_weights


class Stack(layers.Layer):
    """The encoder or the decoder: an embedding and blocks."""

    def __init__(self, num_tokens, sizes, has_memory, name):
        super().__init__(name=name)
        self.embedding = Embedding(num_tokens, sizes.width, sizes.dropout)
        self.blocks = [Block(sizes, has_memory, f"block{n + 1}") for n in range(sizes.num_layers)]

    def call(self, ids, mask, memory=None, memory_mask=None, training=False):
        x, attention = self.embedding(ids, training=training), []
        for block in self.blocks:
            x, *weights = block(x, mask, memory, memory_mask, training=training)
            attention.append(weights)
        return x, attention


class Transformer(keras.Model):
    """Source ids [B, S] and decoder input [B, T] -> logits of the next tokens [B, T, V]."""

    def __init__(self, num_source_tokens, num_target_tokens, sizes):
        super().__init__(name="transformer")
        self.encoder = Stack(num_source_tokens, sizes, False, "encoder")
        self.decoder = Stack(num_target_tokens, sizes, True, "decoder")
        self.final = layers.Dense(num_target_tokens, name="final")

    def call(self, inputs, training=False):
        return self.with_attention(*inputs, training=training)[0]

    def with_attention(self, source, target, training=False):
        """The logits, and the decoder's attention: for each block [B, H, T, T] and [B, H, T, S]."""
        source_mask = padding_mask(source)
        # Padding follows a sentence, where the causal mask hides it: this is for padded queries only.
        target_mask = ops.logical_and(causal_mask(ops.shape(target)[1]), padding_mask(target))  # [B, 1, T, T]
        memory, _ = self.encoder(source, source_mask, training=training)
        x, attention = self.decoder(target, target_mask, memory, source_mask, training=training)
        return self.final(x), attention


# 4. Training.


def masked_loss(labels, logits):
    """The mean cross-entropy over real labels [B, T]: padding would be learned at once, and hide the rest."""
    losses = keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)  # [B, T]
    real = ops.cast(ops.not_equal(labels, PAD), losses.dtype)
    return ops.sum(losses * real) / ops.sum(real)


def masked_accuracy(labels, logits):
    """The share of real labels that are the most probable token."""
    real = ops.not_equal(labels, PAD)
    right = ops.logical_and(real, ops.equal(ops.cast(labels, "int32"), ops.argmax(logits, axis=-1)))
    return ops.sum(ops.cast(right, "float32")) / ops.sum(ops.cast(real, "float32"))


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """``D^-0.5 · min(step^-0.5, step · warmup^-1.5)``: small while Adam has seen few gradients."""

    def __init__(self, width, num_warmup_steps):
        self.width, self.num_warmup_steps = width, num_warmup_steps

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1
        return self.width**-0.5 * ops.minimum(step**-0.5, step * self.num_warmup_steps**-1.5)


def compiled(model, sizes):
    """The model with its optimizer and loss."""
    rate = WarmUp(sizes.width, sizes.num_warmup_steps)
    optimizer = keras.optimizers.Adam(rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    model.compile(optimizer=optimizer, loss=masked_loss, metrics=[masked_accuracy])
    return model


def step(model, source, target):
    """One update; the decoder reads the correct tokens so far (teacher forcing). Returns loss, accuracy."""
    return model.train_on_batch((source, target[:, :-1]), target[:, 1:])


def train(model, pairs, sizes):
    """The loop. ptenmt's resumes exactly, also in the middle of an epoch (ptenmt/training/trainer.py)."""
    rng = np.random.default_rng(0)
    for epoch in range(1, sizes.num_epochs + 1):
        for number, (source, target) in enumerate(batches(pairs, sizes.batch_size, rng), start=1):
            loss, accuracy = step(model, source, target)
            print(f"\repoch {epoch}  batch {number}  loss {loss:.3f}  accuracy {accuracy:.3f}", end="")
        print()


# 5. Translating.


def translate(model, source, max_length=40):
    """Greedy search: the most probable next token, until [END]. One sentence [1, S] -> its ids.

    Each step computes all of the prefix again; ptenmt caches keys and values, searches with beams, in int8,
    in batches (ptenmt/translation/ctranslate2_engine.py).
    """
    ids = [START]
    while len(ids) <= max_length and ids[-1] != END:
        logits = ops.convert_to_numpy(model((source, np.array([ids])), training=False))[0, -1]  # [V]
        logits[[PAD, UNK, START]] = -np.inf
        ids.append(int(logits.argmax()))
    return ids


def draw_attention(model, source_vocabulary, target_vocabulary, text, file):
    """The last block's cross-attention, a panel for each head: target tokens down, source across."""
    source = np.array([source_vocabulary.encode(text)])
    ids = translate(model, source)
    _, attention = model.with_attention(source, np.array([ids[:-1]]))
    weights = ops.convert_to_numpy(attention[-1][1])[0]  # [H, T, S]
    figure, panels = plt.subplots(2, (len(weights) + 1) // 2, figsize=(14, 7), layout="constrained")
    words = [source_vocabulary.tokens[number] for number in source[0]]
    for number, (panel, head) in enumerate(zip(panels.flat, weights, strict=False), start=1):
        panel.imshow(head, cmap="Blues")
        panel.set_title(f"head {number}")
        panel.set_xticks(range(len(words)), words, rotation=90)
        panel.set_yticks(range(len(ids) - 1), [target_vocabulary.tokens[n] for n in ids[1:]])
    figure.savefig(file)


# 6. All of it.


class Sizes(argparse.Namespace):
    """The sizes that train on the demo corpus in minutes."""

    num_layers, width, num_heads, inner_width, dropout = 2, 128, 8, 512, 0.1
    batch_size, num_epochs, num_warmup_steps = 64, 8, 400


BASE = {"num_layers": 4, "num_epochs": 20, "num_warmup_steps": 4000}
"""The tutorial's: 4,646,882 parameters with its vocabularies of 7,765 and 7,010 tokens."""


def main():
    """Train, translate, score, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", action="store_true", help="the sizes of the tutorial")
    sizes = Sizes(**BASE) if parser.parse_args().base else Sizes()
    keras.utils.set_random_seed(1)
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        pairs = [tuple(line.rstrip("\n").split("\t")[:2]) for line in lines]
    np.random.default_rng(1).shuffle(pairs)
    held_out, training = pairs[:200], pairs[200:]
    source_vocabulary, target_vocabulary = (Vocabulary(side) for side in zip(*training, strict=True))
    model = Transformer(len(source_vocabulary.tokens), len(target_vocabulary.tokens), sizes)
    compiled(model, sizes)
    encoded = [(source_vocabulary.encode(pt), target_vocabulary.encode(en)) for pt, en in training]
    train(model, encoded, sizes)
    print(f"{model.count_params():,} parameters, {len(training):,} pairs; translating {len(held_out)} others")
    translations = [
        target_vocabulary.decode(translate(model, np.array([source_vocabulary.encode(source)])))
        for source, _ in held_out
    ]
    for (source, reference), translation in zip(held_out[:5], translations, strict=False):
        print(f"\n   source {source}\nreference {reference}\n      now {translation}")

    references = [target_vocabulary.decode(target_vocabulary.encode(target)) for _, target in held_out]
    score = sacrebleu.corpus_bleu(translations, [references]).score
    print(f"\nBLEU on {len(held_out)} held-out pairs: {score:.1f}")
    draw_attention(model, source_vocabulary, target_vocabulary, held_out[0][0], "transformer-attention.png")
    print("transformer-attention.png: what each token of the first translation attends to")


if __name__ == "__main__":
    main()
