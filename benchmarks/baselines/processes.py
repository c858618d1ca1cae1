"""Each measurement in a process of its own, and what is told while they run."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def on_processor() -> None:
    """Let this process' children find no GPU: some systems would use it, and others not."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


def tell(line: str) -> None:
    """Say how far it is, beside the results."""
    print(line, file=sys.stderr, flush=True)
