"""Models that other programs trained, as runs."""
