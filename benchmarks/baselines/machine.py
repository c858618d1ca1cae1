"""Date, machine, versions and command line of a measurement."""

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def describe(torch_python: str | None) -> str:
    """Return date, processor and versions, in two lines.

    Args:
        torch_python: The Python interpreter of the PyTorch environment, if it was measured.
    """
    versions = {"Python": platform.python_version()}
    versions |= {name: version(package) for name, package in PACKAGES.items()}
    if torch_python is not None:
        versions["PyTorch"] = _output_of([torch_python, "-c", "import torch; print(torch.__version__)"])
    named = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores of {_processor()}\n{named}"


PACKAGES = {"ptenmt": "ptenmt", "TensorFlow": "tensorflow", "Keras": "keras", "CTranslate2": "ctranslate2"}


def has_amx() -> bool:
    """Whether the processor has hardware for bfloat16 matrix products (AMX)."""
    return CPUINFO.exists() and "amx_bf16" in CPUINFO.read_text()


def same_command(for_page: bool) -> str:
    """Return the command line of this process.

    Args:
        for_page: Replace absolute folders by DIR.
    """
    words = ["python", *sys.argv]
    if for_page:
        words = [f"DIR/{Path(word).name}" if word.startswith("/") else word for word in words]
    return shlex.join(words)


def _processor() -> str:
    lines = CPUINFO.read_text().splitlines() if CPUINFO.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = [flag for flag in ("avx2", "avx512f", "amx_bf16") if any(f" {flag} " in line for line in lines)]
    return f"{names[0] if names else platform.processor()} ({platform.machine()}, {' '.join(flags)})"


def _output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
