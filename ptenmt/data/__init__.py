"""Sentence pairs: sources, filters, tokenized stores and batches."""
