"""Runs on disk: their folders, weights and histories, and trained models loaded from them."""

from ptenmt.runs.directory import (
    COMMANDS as COMMANDS,
    NOTHING as NOTHING,
    NOTICE as NOTICE,
    SEARCH_FACTS as SEARCH_FACTS,
    STARTER as STARTER,
    UNITS as UNITS,
    Choice as Choice,
    History as History,
    Run as Run,
    check_task as check_task,
    find_run as find_run,
    list_runs as list_runs,
    perplexity as perplexity,
    rank as rank,
    run_path as run_path,
    set_aside as set_aside,
    versions as versions,
    written_whole as written_whole,
)
