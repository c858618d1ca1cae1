"""A translator as a TensorFlow graph: what goes into a SavedModel."""
