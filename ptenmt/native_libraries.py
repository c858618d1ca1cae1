"""Libraries whose C++ code writes log lines to stderr: loaded and run without those."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from ptenmt.errors import PtenmtError

_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_KEEP_MEMORY = "TF_CPU_ALLOCATOR_USE_BFC"
"""Makes TensorFlow keep freed memory instead of returning it at every step (decision 0013)."""


def load_tensorflow() -> None:
    """Import TensorFlow, unless it is imported already; raises PtenmtError if it is not installed.

    With TF_CPP_MIN_LOG_LEVEL=0 its log lines are shown.
    """
    if importlib.util.find_spec("tensorflow") is None:
        raise PtenmtError("this needs TensorFlow, which is not installed", "pip install 'tensorflow~=2.21.0'")
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault(_KEEP_MEMORY, "true")
    is_verbose = os.environ.setdefault(_LOG_LEVEL, "3") == "0"
    with nullcontext() if is_verbose else silent_stderr():
        import tensorflow as tf

        tf.config.list_physical_devices()  # which writes such lines, too


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Write nothing to stderr. C++ code ignores log levels, so the file descriptor is redirected."""
    if sys.stderr is None:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
