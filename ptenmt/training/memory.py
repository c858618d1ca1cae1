"""How much memory a training needs."""

import sys

import tensorflow as tf


def peak_memory() -> int | None:
    """The most bytes of memory that this process has held so far; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def peak_device_memory() -> int | None:
    """The most bytes that tensors have taken on the first GPU so far; None without one."""
    if not tf.config.list_logical_devices("GPU"):
        return None
    return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])
