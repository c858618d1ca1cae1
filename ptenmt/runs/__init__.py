"""Runs on disk: their folders, weights and histories, and trained models loaded from them."""

from ptenmt.runs.directory import (
    COMMANDS,
    NOTICE,
    STARTER,
    UNITS,
    Choice,
    Run,
    check_task,
    find_run,
    list_runs,
    run_path,
    set_aside,
    versions,
)

__all__ = [
    "COMMANDS",
    "NOTICE",
    "STARTER",
    "UNITS",
    "Choice",
    "Run",
    "check_task",
    "find_run",
    "list_runs",
    "run_path",
    "set_aside",
    "versions",
]
