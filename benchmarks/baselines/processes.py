"""Measurements in separate processes, and progress messages."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new process and return its result."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def hide_gpus() -> None:
    """Hide GPUs from child processes: only some of the systems would use one."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


def log(line: str) -> None:
    """Print progress on standard error."""
    print(line, file=sys.stderr, flush=True)
