"""A look inside a model: facts first, then figures. Nothing here needs TensorFlow or Keras."""
