"""Training the weights of a run: the loop, its state and its tasks."""
