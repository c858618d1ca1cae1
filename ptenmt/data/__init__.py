"""Sentence pairs: where they come from, what is done to them, and how they are batched."""
