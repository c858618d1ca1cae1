"""Upper bound of the training speed: only the matrix products of the training steps on ptenmt's batches.

python matrix_products.py TASK_FOLDER
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf
from interleave import Turns
from task import Sizes, Task, count_labels


class Product(NamedTuple):
    """``count`` products of matrices [rows, inner] and [inner, columns] in one call."""

    count: int
    rows: int
    inner: int
    columns: int


def step_products(sizes: Sizes, sentences: int, source: int, target: int) -> Counter[Product]:
    """The products of a step's forward pass, and the number of times each is computed.

    Args:
        sizes: Sizes of the model.
        sentences: B.
        source: S.
        target: T.
    """
    products: Counter[Product] = Counter()
    width, layers = sizes.d_model, sizes.num_layers

    def dense(tokens: int, inner: int, columns: int, times: int) -> None:
        products[Product(1, sentences * tokens, inner, columns)] += times

    def attention(queries: int, keys: int) -> None:
        dense(queries, width, width, 2 * layers)  # query and output
        dense(keys, width, width, 2 * layers)  # key and value
        heads, size = sentences * sizes.num_heads, width // sizes.num_heads
        products[Product(heads, queries, size, keys)] += layers  # scores
        products[Product(heads, queries, keys, size)] += layers  # weighted values

    attention(source, source)
    attention(target, target)
    attention(target, source)
    for tokens in (source, target):
        dense(tokens, width, sizes.d_ff, layers)
        dense(tokens, sizes.d_ff, width, layers)
    dense(target, width, sizes.target_vocabulary, 1)
    return products


def operations(products: Counter[Product]) -> float:
    """Floating-point operations of forward and backward pass; each product has two in the backward pass."""
    return sum(3 * 2.0 * times * math.prod(product) for product, times in products.items())


def compute(product: Product, times: int, numbers: tf.Tensor) -> Iterator[None]:
    """Compute a product and the two of its backward pass; yields once, before computing."""
    count, rows, inner, columns = product
    lead = () if count == 1 else (count,)

    def operand(*shape: int) -> tf.Tensor:
        return tf.reshape(numbers[: math.prod(lead + shape)], lead + shape)

    inputs, weights, gradient = operand(rows, inner), operand(inner, columns), operand(rows, columns)
    yield
    for _ in range(times):
        tf.matmul(inputs, weights)
        tf.matmul(gradient, weights, transpose_b=True)
        tf.matmul(inputs, gradient, transpose_a=True)


def main() -> None:
    task = Task(Path(sys.argv[1]))
    sizes = task.sizes()
    turns = Turns()
    batches = [
        (step_products(sizes, *source.shape, target.shape[1] - 1), count_labels(target))
        for source, target in task.batches()
    ]
    largest = max(
        max(count * rows * inner, count * inner * columns, count * rows * columns)
        for products, _ in batches
        for count, rows, inner, columns in products
    )
    dtype = tf.float32 if task.precision() == "float32" else tf.bfloat16
    numbers = tf.random.normal((largest,), dtype=dtype)
    for products, labels in cycle(batches):
        computations = [compute(product, times, numbers) for product, times in products.items()]
        for computation in computations:
            next(computation)
        turns.mark()
        for computation in computations:
            next(computation, None)
        turns.count(labels, operations(products))


if __name__ == "__main__":
    main()
