"""The Transformer and its parts, as Keras layers; ``numpy_transformer`` is its forward pass without Keras."""
