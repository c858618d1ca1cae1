"""What a model has learnt, as data and as figures. Nothing here needs TensorFlow or Keras."""
