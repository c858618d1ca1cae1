"""How much of this machine a process may use."""

import os
from pathlib import Path

_CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def available_cores() -> int:
    """How many cores this process may use; a container's share of them may be less than the machine's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CPU_LIMIT.read_text().split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no such limit here
        return cores
