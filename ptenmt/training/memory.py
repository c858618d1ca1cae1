"""How much memory a training needs."""

import sys


def peak_memory() -> int | None:
    """The most bytes of memory that this process has held so far; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
